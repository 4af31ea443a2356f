"""Troubles of others, as inputs with right answers: `python -m tests.cases FILE --json` runs them on the engine.

cases.jsonl  the inputs                 ours.jsonl  more of their kinds     expand      blows up the long ones
ground       a desk around a case       operations, walking, chain: what is done to it
checks       what must hold, with measures, more, structure and refusals   elsewhere   which tests hold the others
"""
