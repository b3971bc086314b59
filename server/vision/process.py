"""One process that looks at pictures, one after another, as the server sees it."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from server.programs import die_with_parent
from server.vision import pipes
from server.vision.findings import Findings, Question

PROGRAM: Final = "server.vision.looking"

_LAUNCHER: Final = str(Path(die_with_parent.__file__).absolute())

_OURS: Final = "FARHAND_"
"""How the names of our variables begin, in which secrets can be."""


class ProcessEndedError(Exception):
    """The process has ended, or says what cannot be read; ``str()`` says more."""


class LookingProcess:
    """Make it by `start`; whoever asks waits for the answer before asking again.

    It dies with the server, whatever ends that, and at the latest when its standard input does.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, memory_bytes: int) -> "LookingProcess":
        """Start one that may have so much memory; it loads what it needs with its first picture.

        It stays in the server's session, so that the kernel weighs the one against the other by
        how nice each is.  Raises OSError.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", _LAUNCHER, str(os.getpid())),
            *(sys.executable, "-P", "-m", PROGRAM, str(memory_bytes)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_environment(),
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_over(self) -> bool:
        """Whether it is known to have ended."""
        return self._process.returncode is not None

    async def ask(self, question: Question, picture: bytes) -> Findings:
        """What it finds.  After a cancellation, or ProcessEndedError, it is of no more use."""
        writer, reader = self._process.stdin, self._process.stdout
        if writer is None or reader is None:
            raise ProcessEndedError("it has no pipes")
        if writer.is_closing():
            # The pipe may tell before anything else does; uvloop lets nobody write to it then.
            raise ProcessEndedError("it has ended")
        try:
            writer.write(pipes.packed(question.model_dump_json().encode(), picture))
            await writer.drain()
            head, _ = pipes.lengths(await reader.readexactly(pipes.LENGTHS.size))
            return Findings.model_validate_json(await reader.readexactly(head))
        except (OSError, asyncio.IncompleteReadError):
            raise ProcessEndedError("it has ended") from None
        except (pipes.BrokenPipeFormatError, ValidationError) as error:
            raise ProcessEndedError(f"it says what cannot be read: {error}") from None

    async def end(self) -> None:
        """Kill it, and wait for its end: it has nothing to tidy up."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


def _environment() -> dict[str, str]:
    """One thread for each, and none of our own settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**inherited, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
