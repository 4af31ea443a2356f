"""Techniques: one layer of memory, or one guard, a file. Prompt text stands beside it as .md.

To add one: copy a sibling, name its file in `techniques` of a policy, give it a test and a page of the same stem.
"""
