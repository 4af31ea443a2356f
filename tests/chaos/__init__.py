"""The product as a process that is killed, interrupted and started again. Each check prints one line of JSON."""
