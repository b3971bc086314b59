"""Makes the synchronous client of the asynchronous one: ``python client/unasync.py``.

What differs is the words below and nothing else.  ``tests/client/test_unasync.py`` says when a file
of ``_sync`` is not what it would be made now.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent / "farhand"
NOTE = "# Made of farhand/_async by client/unasync.py: change it there.\n"

WORDS = {
    r"\bfarhand\._async\b": "farhand._sync",
    r"\basync (def|with|for)\b": r"\1",
    r"\bawait ": "",
    r"\bAwaitable\[(\w+)\]": r"\1",
    r"import Awaitable, Callable\b": "import Callable",
    r"\b(Beta)?Async(?=[A-Z])": r"\1",
    r"\b__aenter__\b": "__enter__",
    r"\b__aexit__\b": "__exit__",
    r"\baclose\b": "close",
    r"\baiter_raw\b": "iter_raw",
    r"\basync_sleep\b": "sleep",
    r"\basynccontextmanager\b": "contextmanager",
    r"\bAbstractAsyncContextManager\b": "AbstractContextManager",
    r"\basynchronous\b": "synchronous",
    r"``_sync`` is made of it by ``client/unasync.py``": "made of ``_async``",
    r"\bIt is for one event loop, and for any number of calls at once\.": (
        "It may be used by several threads at once."
    ),
}
"""What becomes of what, in this order."""

_HTTPX = {r"\bhttpx\.Async(?=BaseTransport|Client)": "httpx."}


def synchronous(source: str) -> str:
    """A file of ``_async`` as it is in ``_sync``, before it is formatted."""
    for found, instead in {**_HTTPX, **WORDS}.items():
        source = re.sub(found, instead, source)
    return NOTE + source


def made() -> Iterator[tuple[Path, str]]:
    """Each file of ``_sync``, and what belongs into it."""
    for file in sorted((PACKAGE / "_async").rglob("*.py")):
        name = PACKAGE / "_sync" / file.relative_to(PACKAGE / "_async")
        yield name, formatted(synchronous(file.read_text()), name)


def formatted(source: str, file: Path) -> str:
    """The source as ruff would have it in that file."""
    ruff = Path(sys.executable).with_name("ruff")
    name = ("--stdin-filename", str(file), "-")
    for arguments in (("check", "--quiet", "--fix", "--select", "I"), ("format", "--quiet")):
        source = subprocess.run(  # noqa: S603 - ruff, with arguments of our own
            [ruff, *arguments, *name], input=source, capture_output=True, text=True, check=True
        ).stdout
    return source


if __name__ == "__main__":
    for path, content in made():
        path.write_text(content)
