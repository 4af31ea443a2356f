"""Measures the long and even job of the rehearsal: `python -m bench` (make bench).

meter     a stand-in that keeps accounts, and clocks that leave its own time out
bare      the SDK's raw call in a loop, without memory: what everything is compared to
engine    the engine with its twins in memory      path    the product: claim, window, call, commits, bell
reach     how many planted facts are in sight      table   what is printed
peers     the same job by other harnesses        scale   many runs at once
"""
