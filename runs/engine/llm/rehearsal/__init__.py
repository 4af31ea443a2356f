"""The rehearsal: a strict stand-in of the Messages API that plays scripts. No key, no network, no cost.

standin              one request in, one answer out     transport, http      its doors: in process, over HTTP
validate, fields     what the API refuses               thinking             signatures, bound to what came before
count, cache, digest tokens and the cache's accounts    stream               server-sent events at a human pace
script, play         what a script is, how it is played scripts/             the scripts themselves
summarise            answers a request for a summary    personality, faults, rewrite  what goes wrong on demand
wire                 what passes between these
"""
