"""The long job done by our engine and by other harnesses, each through its public API: `make bench-peers`.

clerk      the stand-in of one run: plays the job, keeps accounts, compacts as the API does for those who ask
server     many clerks behind one loopback port; the first part of the path names the run
child      what a harness finds when it runs: its address, its pieces, its clock
with_*     one harness a file, run by the interpreter of .venv-peers (ours: by our own)
jobs       which rows there are      table   what is printed

Pieces, answers and summaries are the same for all; what differs is what each sends.
"""
