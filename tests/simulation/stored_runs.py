"""The runs of the simulation: documents in memory, with what runs ask of MongoDB.

The real stores of runs work on them, with their own conditions and changes; each of these
operations is one atomic step, between which and its answer anything may happen.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from types import NoneType, SimpleNamespace
from typing import Any

from server.errors import AlreadyExists
from server.store.mongodb.documents import Document
from tests.simulation.mongo import Mongo
from tests.simulation.stores import Perform

MISSING = object()
TYPES = {"date": datetime, "string": str, "null": NoneType}


class RunsDatabase:
    """What the stores of runs need of a database, from one process."""

    def __init__(self, mongo: Mongo, perform: Perform) -> None:
        self._runs = _Runs(mongo, perform)

    def collection(self, _name: str) -> "_Runs":
        """The only one."""
        return self._runs

    @asynccontextmanager
    async def operation(self) -> AsyncIterator[None]:
        """Errors are the stores' own already."""
        yield

    async def documents(self, found: "_Found") -> AsyncIterator[Document]:
        """One after another."""
        for each in await found.to_list(None):
            yield each


class _Found:
    """What a query finds, once somebody asks."""

    def __init__(self, perform: Perform, wanted: Any) -> None:
        self._perform = perform
        self._wanted = wanted

    async def to_list(self, _length: None) -> list[Document]:
        found: list[Document] = await self._perform(self._wanted)
        return found


class _Runs:
    """The collection.  A document that was read is nobody's to change."""

    def __init__(self, mongo: Mongo, perform: Perform) -> None:
        self._mongo = mongo
        self._perform = perform

    async def find_one(self, wanted: Document) -> Document | None:
        return await self._perform(lambda: next(iter(self._all(wanted)), None))

    def find(self, wanted: Document, _fields: Document, **_how: object) -> _Found:
        return _Found(self._perform, lambda: self._all(wanted))

    def aggregate(self, _pipeline: Sequence[Document]) -> _Found:
        """The first of those that wait: here there is one."""
        waits_for = ("organization_id", "machine_id", "pool_ids")

        def waiting() -> list[Document]:
            return [
                {"_id": {name: each[name] for name in waits_for}, "run_id": each["_id"]}
                for each in self._all({"wants_turn": True})
            ]

        return _Found(self._perform, waiting)

    async def find_one_and_update(
        self, wanted: Document, change: Any, *, return_document: object, session: object = None
    ) -> Document | None:
        return await self._perform(lambda: self._update(wanted, change))

    async def update_one(self, wanted: Document, change: Any, *, session: object) -> object:
        changed = await self._perform(lambda: self._update(wanted, change))
        return SimpleNamespace(matched_count=int(changed is not None))

    def _all(self, wanted: Document) -> list[Document]:
        return [each for each in self._mongo.runs.values() if self._is_so(each, wanted)]

    def _update(self, wanted: Document, change: Any) -> Document | None:
        found = next(iter(self._all(wanted)), None)
        if found is None:
            return None
        changed = self._changed(found, change)
        reserves = changed.get("reserves")
        for other in self._mongo.runs.values():
            if reserves and other is not found and other.get("reserves") == reserves:
                raise AlreadyExists("Another run has reserved the machine.")
        self._mongo.runs[changed["_id"]] = changed
        self._mongo.world.trace("run", change)
        return changed

    def _changed(self, document: Document, change: Any) -> Document:
        changed = dict(document)
        is_pipeline = isinstance(change, list)
        stages: dict[str, Document] = change[0] if is_pipeline else change
        for path, value in stages.get("$set", {}).items():
            _put(changed, path, self._value(document, value) if is_pipeline else value)
        for path, value in stages.get("$push", {}).items():
            _put(changed, path, [*_at(document, path), value])
        for path, value in stages.get("$inc", {}).items():
            _put(changed, path, _at(document, path) + value)
        for path in stages.get("$unset", {}):
            changed.pop(path, None)
        return changed

    def _is_so(self, document: Document, wanted: Document) -> bool:
        return all(
            self._is_less(document, *value["$lte"])
            if path == "$expr"
            else _fits(_at(document, path), value)
            for path, value in wanted.items()
        )

    def _is_less(self, document: Document, one: Any, other: Any) -> bool:
        return bool(self._value(document, one) <= self._value(document, other))

    def _value(self, document: Document, expression: Any) -> Any:
        """What an expression of a pipeline is of a document."""
        match expression:
            case "$$NOW":
                return self._mongo.clock()
            case str() if expression.startswith("$"):
                return _at(document, expression[1:])
            case {"$add": [value, int(more)]}:
                value = self._value(document, value)
                return value + (more if isinstance(value, int) else timedelta(milliseconds=more))
            case {"$ifNull": [first, second]}:
                found = self._value(document, first)
                return self._value(document, second) if found in (None, MISSING) else found
            case dict():
                return {name: self._value(document, each) for name, each in expression.items()}
        return expression


def _at(document: Document, path: str) -> Any:
    """What is there; MISSING where nothing is."""
    found: Any = document
    for name in path.split("."):
        found = found.get(name, MISSING) if isinstance(found, Mapping) else MISSING
    return found


def _put(document: Document, path: str, value: Any) -> None:
    first, _, rest = path.partition(".")
    if rest:
        value = {**document[first], rest: value}
    document[first] = value


def _fits(found: Any, wanted: Any) -> bool:
    """Whether a field is as a condition says; where there is none it is null."""
    is_there = found is not MISSING
    value = found if is_there else None
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    for operator, operand in wanted.items():
        match operator:
            case "$in":
                fits = value in operand
            case "$nin":
                fits = value not in operand
            case "$ne":
                fits = value != operand
            case "$exists":
                fits = is_there is operand
            case "$type":
                fits = is_there and isinstance(value, TYPES[operand])
            case _:
                raise NotImplementedError(operator)
        if not fits:
            return False
    return True
