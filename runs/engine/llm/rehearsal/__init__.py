"""The rehearsal: a strict stand-in of the Messages API that plays scripts. No key, no network, no cost.

standin       one request in, one answer out          transport, http   the two doors: in process, over HTTP
script, play  what a script is, how a turn is played   scripts/          the scripts themselves
stream        server-sent events at a human pace
"""
