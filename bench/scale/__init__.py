"""Many runs at once on slow llms: what a machine bears, and how it answers meanwhile. `python -m bench.scale`.

Real processes: Redis, Postgres, `agentdash web`, `agentdash worker`, the rehearsal's stand-in over HTTP, a crowd of
viewers. Everything lies in folders that are thrown away.
"""
