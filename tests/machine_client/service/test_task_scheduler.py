"""The Task Scheduler's answers: from its interfaces as a test plays them, and from Wine's own."""

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from machine_client.service import task_scheduler
from machine_client.service.base import ServiceError
from machine_client.service.task_scheduler import RUNNING, Task, find_task

METHODS = 24
Method = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
)
Getter = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
NumberGetter = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))
Releaser = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Played:
    """An object with an interface: a table of functions, by their places."""

    def __init__(self, **methods: Any) -> None:
        self.released = 0
        self._kept = [*methods.values(), Releaser(self._release)]
        self._table = (ctypes.c_void_p * METHODS)()
        for name, method in methods.items():
            place = getattr(task_scheduler, name)
            self._table[place] = ctypes.cast(method, ctypes.c_void_p).value
        self._table[task_scheduler._RELEASE] = ctypes.cast(self._kept[-1], ctypes.c_void_p).value
        self._itself = ctypes.c_void_p(ctypes.addressof(self._table))
        self.place = ctypes.c_void_p(ctypes.addressof(self._itself))

    def _release(self, _: int) -> int:
        self.released += 1
        return 0


@pytest.fixture(autouse=True)
def texts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was freed; texts are ctypes' own."""
    freed: list[object] = []
    monkeypatch.setattr(
        task_scheduler,
        "library",
        lambda _: SimpleNamespace(SysFreeString=lambda text: freed.append(text.value)),
    )
    return freed


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has one itself")


def a_task(description: Any, last_result: int = 0) -> Played:
    def state(_: int, into: Any) -> int:
        into[0] = RUNNING
        return 0

    def last(_: int, into: Any) -> int:
        into[0] = 3 if last_result == 0 else 0
        return last_result

    def xml(_: int, into: Any) -> int:
        into[0] = ctypes.addressof(description)
        return 0

    return Played(_STATE=NumberGetter(state), _LAST_RESULT=NumberGetter(last), _XML=Getter(xml))


def folder_of(task: Played, result: int = 0) -> Played:
    def get(_: int, _name: int, into: Any) -> int:
        into[0] = task.place.value
        return result

    return Played(_GET_TASK=Method(get))


@pytest.mark.parametrize("last_result", [0, -1], ids=["ended", "never-ran"])
def test_task_is_told_and_let_go(texts: list[object], last_result: int) -> None:
    description = ctypes.create_unicode_buffer("<Task>Jörg</Task>")
    task = a_task(description, last_result)
    # Kept as long as its place is used: nothing else holds its memory.
    folder = folder_of(task)
    found = task_scheduler._task(folder.place, ctypes.c_void_p(1))
    assert found == Task(RUNNING, 3 if last_result == 0 else 0, "<Task>Jörg</Task>")
    assert task.released == 1
    assert texts == [ctypes.addressof(description)]


def test_task_that_is_not_there_is_none_and_another_failure_is_one() -> None:
    task = a_task(ctypes.create_unicode_buffer(""))
    not_found = ctypes.c_int32(0x80070002).value
    without = folder_of(task, not_found)
    assert task_scheduler._task(without.place, ctypes.c_void_p(1)) is None
    denied = ctypes.c_int32(0x80070005).value
    closed = folder_of(task, denied)
    with pytest.raises(task_scheduler._Refused, match="0x80070005"):
        task_scheduler._task(closed.place, ctypes.c_void_p(1))
    assert task.released == 0


def test_where_there_is_none_that_is_told() -> None:
    with pytest.raises(ServiceError, match="no Task Scheduler here"):
        find_task("a task")
