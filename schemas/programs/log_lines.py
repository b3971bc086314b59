"""How both programs write their log: lines for people, or JSON for programs."""

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

from schemas.values.foreign_texts import printable
from schemas.values.times import format_time

LogFormat = Literal["text", "json"]

_PLACEHOLDER: Final = re.compile(r"(?:\b([a-z_]+)=)?%(?:%|[-#0 +]*[0-9]*(?:\.[0-9]+)?([a-z]))")


_subject: ContextVar[Mapping[str, str]] = ContextVar("_subject", default=MappingProxyType({}))


def be_about(**facts: str) -> None:
    """Put these facts into every line that is written in this context from now on."""
    _subject.set(facts)


class TextLine(logging.Formatter):
    """What machines and people say is shown, but cannot begin a line or steer a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line, with whatever is not printable escaped as in a Python string."""
        record.message = _said(_subject.get()) + record.message
        return printable(super().formatMessage(record))


class JsonLine(logging.Formatter):
    """One JSON object for each event: time, level, logger, message, and the facts in it.

    A fact is what a call of the logger names in its template, as in ``"machine=%s connected"``,
    or gives as ``extra={"facts": {...}}``.  What others say is a value only, and never a name.
    ``common`` is in every line.
    """

    def __init__(self, common: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._common = dict(common or {})

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        content = {
            **facts_of(record),
            **_subject.get(),
            **self._common,
            "time": format_time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            content["exception"] = self.formatException(record.exc_info)
        return json.dumps(content, default=str)


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a log record says by name."""
    given = getattr(record, "facts", None)
    if isinstance(given, dict):
        return given
    if not isinstance(record.args, tuple) or not isinstance(record.msg, str):
        return {}
    names = _names(record.msg)
    return {name: value for name, value in zip(names, record.args, strict=False) if name}


@lru_cache(maxsize=1000)
def _names(template: str) -> tuple[str | None, ...]:
    """The name of each value that the template takes, None where it has none."""
    return tuple(found[1] for found in _PLACEHOLDER.finditer(template) if found[2] is not None)


def _said(facts: Mapping[str, str]) -> str:
    return "".join(f"{name}={value} " for name, value in facts.items())


def log_formatter(
    form: LogFormat, text: str, common: Mapping[str, str] | None = None
) -> logging.Formatter:
    """The formatter of one program; ``text`` is the template of its lines for people.

    ``common`` is in every line, by name.
    """
    common = common or {}
    if form == "json":
        return JsonLine(common)
    said = _said(common).replace("%", "%%")
    return TextLine(text.replace("%(message)s", f"{said}%(message)s"), "%Y-%m-%dT%H:%M:%S")
