"""Troubles of others, as inputs with right answers: `python -m tests.cases FILE --json` runs them on the engine.

cases.jsonl  the inputs        expand      blows up the long ones
ground       a desk around a case's messages     operations  what is done     checks  what must hold
"""
