"""``farhand audit --follow``: what was done, as it happens."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

import click

from schemas.resources.audit import INPUT_FAMILY
from schemas.resources.commands import BY_HAND
from schemas.values.times import parse_time
from server.cli.client import Api
from server.cli.live.following import follow

EVENTS: Final = ("audit", "command")

MOST_KNOWN: Final = 200_000
"""So many entries are known, so as not to be shown again."""


class Followed:
    """Shows each entry once, and again where it says something new."""

    def __init__(self, query: Mapping[str, str], show: Callable[[Any], None]) -> None:
        self._query = query
        self._show = show
        self._known: OrderedDict[str, object] = OrderedDict()

    def read(self, items: list[Any]) -> None:
        """Take the newest entries as they are now, newest first."""
        for entry in reversed(items):
            self._take(entry)

    def heard(self, kind: str, data: Any) -> None:
        """Take an event."""
        entry = data if kind == "audit" else entry_of(data)
        if self._is_wanted(entry):
            self._take(entry)

    def remark(self, text: str) -> None:
        """Say something about the connection; nothing, if empty."""
        if text:
            click.echo(text, err=True)

    def _take(self, entry: Any) -> None:
        said = entry["note"], entry["command"] and entry["command"]["outcome"]
        if self._known.get(entry["id"]) != said:
            self._show(entry)
        self._known[entry["id"]] = said
        self._known.move_to_end(entry["id"])
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _is_wanted(self, entry: Any) -> bool:
        """Whether the server would list it."""
        query, action = self._query, self._query.get("action", entry["action"])
        return (
            all(
                query.get(name, entry[name]) == entry[name]
                for name in ("machine_id", "token_id", "token_name")
            )
            and f"{entry['action']}.".startswith(f"{action}.")
            and entry["created_at"] >= query.get("created_at_from", "")
        )


def entry_of(command: Any) -> dict[str, Any]:
    """The entry about an input or work by hand, as the event tells it: all but the request's id."""
    facts = {
        **{name: command[name] for name in ("token_id", "token_name", "machine_id", "note")},
        **dict.fromkeys(("target_name", "grant", "request_id")),
        "created_at": command["accepted_at"],
        "command": command,
    }
    identifier = UUID(command["command_id"]).hex
    if command["operation"] == BY_HAND:
        target = command["machine_id"]
        return {**facts, "id": identifier, "action": "control.worked", "target": target}
    accepted = round(parse_time(command["accepted_at"]).timestamp() * 1000)
    return {
        **facts,
        "id": f"{identifier}{accepted:016x}",
        "action": f"{INPUT_FAMILY}.{command['operation']}",
        "target": command["command_id"],
    }


def follow_entries(
    api: Api,
    query: Mapping[str, str],
    read_list: Callable[[], dict[str, Any]],
    show: Callable[[Any], None],
) -> None:
    """Show what is listed, the newest last, and what comes and fits the query, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        follow(api, Followed(query, show), EVENTS, read_list)
