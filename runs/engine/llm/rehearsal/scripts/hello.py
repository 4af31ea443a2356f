"""Three turns for a first look and for quick tests: write a file, run it, say so."""

from __future__ import annotations

from ..script import Call, Script, Step, played

_PROGRAM = 'print("Hello from the rehearsal.")\n'

_STEPS = (
    Step(
        thinks="A file and one command are enough for this. I write it first and run it then.",
        says="I write a small program that greets.",
        calls=(Call(name="write_file", input={"path": "hello.py", "content": _PROGRAM}),),
        must=True,
    ),
    Step(
        says="Written. Now I run it to see whether it greets.",
        calls=(Call(name="run_command", input={"command": "python3 hello.py"}),),
    ),
    Step(says="Done: `hello.py` prints its greeting, and the command ended with exit code 0."),
)


def script() -> Script:
    closing = Step(says="`hello.py` is written and runs; there is nothing left to do.")
    return Script(
        name="hello",
        title="Say hello",
        goal="Write a program that greets, and run it once.",
        length=len(_STEPS),
        step=played(_STEPS, closing),
    )
