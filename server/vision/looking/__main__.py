"""Answers questions about pictures until its input ends; its argument is its memory in bytes."""

import os
import resource
import signal
import sys
from typing import BinaryIO

from server.vision import pipes
from server.vision.findings import Findings, Question

NICENESS = 19
"""The kernel gives this program what nobody else wants."""


def main() -> None:
    """Read questions and write answers; what goes wrong with one is its answer."""
    answers = _own_output()
    _confine(int(sys.argv[1]))
    while (asked := _next(sys.stdin.buffer)) is not None:
        answers.write(pipes.packed(_answer(*asked).model_dump_json().encode()))
        answers.flush()


def _own_output() -> BinaryIO:
    """The answers' pipe, where nothing that a library prints gets between them."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def _confine(memory_bytes: int) -> None:
    os.nice(NICENESS)
    # Ctrl+C in the terminal is for the server alone, which ends this program in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _next(questions: BinaryIO) -> tuple[bytes, bytes] | None:
    beginning = questions.read(pipes.LENGTHS.size)
    if len(beginning) < pipes.LENGTHS.size:
        return None
    head, picture = pipes.lengths(beginning)
    return questions.read(head), questions.read(picture)


def _answer(head: bytes, picture: bytes) -> Findings:
    # What it imports takes a second, and is not needed to be there.
    from server.vision.looking.looking import looked_at  # noqa: PLC0415

    try:
        return looked_at(Question.model_validate_json(head), picture)
    except MemoryError:
        return Findings(failed="the picture needs more memory than may be had for it")
    except Exception as error:  # noqa: BLE001  somebody waits for it, whatever it is
        return Findings(failed=f"the picture cannot be looked at ({type(error).__name__})")


if __name__ == "__main__":
    main()
