"""Everything between the engine and the tables: append (archive), windows, search, leases, orders, checks."""
