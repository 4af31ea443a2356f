"""Where engine, store and bell meet: a claimed run is walked for one slice.

slice      claim, turns, orders, states     taking_up   an Agent from what the archive holds
applying   orders, at the boundary          watch       heartbeat, stop now, leaving
warm       agents kept from slice to slice  away        the database is away, locked or full
crash      points to crash at, for tests         waiting     what a thread gives up while it waits
"""

from .slice import advance, answer
from .taking_up import prepare
from .watch import leave, owner, poke

__all__ = ["advance", "answer", "leave", "owner", "poke", "prepare"]
