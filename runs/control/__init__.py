"""The verbs people have: start a run, give it an order, wait for the answer. Every door calls these."""

from .invalid import Invalid
from .orders import order, wait_for
from .start import Start, start

__all__ = ["Invalid", "Start", "order", "start", "wait_for"]
