"""Pushes what happens down to browsers; nothing comes up this way but greetings.

A bell carries two integers (run, seq) or a few letters that are being typed. What is true stands in the database, and
a consumer reads there what its page lacks: a lost bell costs a moment, never an event.
"""
