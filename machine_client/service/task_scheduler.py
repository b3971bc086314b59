"""What Windows' Task Scheduler knows of a task, in numbers and in XML.

``schtasks`` tells the same in words, which are those of the user's language.  The order of each
interface's methods is that of ``taskschd.h``.
"""

import contextlib
import ctypes
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from machine_client.service.base import ServiceError
from machine_client.system.libraries import library

RUNNING: Final = 4  # TASK_STATE_RUNNING
DISABLED: Final = 1  # TASK_STATE_DISABLED
NEVER_RAN: Final = 0x41303  # SCHED_S_TASK_HAS_NOT_RUN

_SCHEDULER: Final = uuid.UUID("0f87369f-a4e5-4cfc-bd3e-73e6154572dd")  # CLSID_TaskScheduler
_SERVICE: Final = uuid.UUID("2faba4c7-4da9-4013-9697-20cc3fd40f85")  # IID_ITaskService
_IN_PROCESS: Final = 1  # CLSCTX_INPROC_SERVER
_MANY_THREADS: Final = 0  # COINIT_MULTITHREADED
_NOT_FOUND: Final = 0x80070002  # HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)

_RELEASE: Final = 2
_CONNECT, _GET_FOLDER = 10, 7  # of ITaskService
_GET_TASK: Final = 13  # of ITaskFolder
_STATE, _LAST_RESULT, _XML = 9, 16, 20  # of IRegisteredTask


@dataclass(frozen=True)
class Task:
    """A task that is there: TASK_STATE, what it ended with, and its description."""

    state: int
    last_result: int
    description: str


class _Variant(ctypes.Structure):
    """An empty VARIANT: whoever is logged on, on this computer."""

    _fields_ = (("kind", ctypes.c_uint64), ("value", ctypes.c_void_p * 2))


class _Refused(Exception):  # noqa: N818  what a method returns
    """A method's HRESULT that is a failure."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the Task Scheduler refuses it ({code:#x})")
        self.code = code


def find_task(name: str) -> Task | None:
    """A task of the Task Scheduler's uppermost folder; None: it is not there, or not for us to see.

    Raises ServiceError.
    """
    if sys.platform != "win32":
        raise ServiceError("there is no Task Scheduler here")
    try:
        with _components() as ole32, _scheduler(ole32) as service, _text("\\") as root:
            _call(service, _CONNECT, *[_Variant()] * 4)
            with _got(service, _GET_FOLDER, root) as folder, _text(name) as named:
                return _task(folder, named)
    except _Refused as error:
        raise ServiceError(str(error)) from None


def _task(folder: ctypes.c_void_p, named: ctypes.c_void_p) -> Task | None:
    state, last_result = ctypes.c_int(), ctypes.c_int32()
    try:
        with _got(folder, _GET_TASK, named) as task:
            _call(task, _STATE, ctypes.byref(state))
            with contextlib.suppress(_Refused):  # One that has never run has none.
                _call(task, _LAST_RESULT, ctypes.byref(last_result))
            description = ctypes.c_void_p()
            _call(task, _XML, ctypes.byref(description))
            with _freed(description):
                text = ctypes.wstring_at(description.value or 0) if description else ""
            return Task(state.value, last_result.value, text)
    except _Refused as error:
        if error.code == _NOT_FOUND:
            return None
        raise


@contextlib.contextmanager
def _components() -> Iterator[Any]:
    """COM, for this thread."""
    ole32: Any = library("ole32")
    is_ours = ole32.CoInitializeEx(None, _MANY_THREADS) >= 0
    try:
        yield ole32
    finally:
        if is_ours:
            ole32.CoUninitialize()


@contextlib.contextmanager
def _scheduler(ole32: Any) -> Iterator[ctypes.c_void_p]:
    made = ctypes.c_void_p()
    which, what = (ctypes.create_string_buffer(each.bytes_le) for each in (_SCHEDULER, _SERVICE))
    _check(ole32.CoCreateInstance(which, None, _IN_PROCESS, what, ctypes.byref(made)))
    with _released(made):
        yield made


@contextlib.contextmanager
def _got(this: ctypes.c_void_p, method: int, name: ctypes.c_void_p) -> Iterator[ctypes.c_void_p]:
    """What a method finds by a name."""
    found = ctypes.c_void_p()
    _call(this, method, name, ctypes.byref(found))
    with _released(found):
        yield found


@contextlib.contextmanager
def _released(this: ctypes.c_void_p) -> Iterator[None]:
    try:
        yield
    finally:
        _call(this, _RELEASE)


@contextlib.contextmanager
def _text(content: str) -> Iterator[ctypes.c_void_p]:
    """A BSTR."""
    make: Any = library("oleaut32").SysAllocString
    make.argtypes, make.restype = (ctypes.c_wchar_p,), ctypes.c_void_p
    made = ctypes.c_void_p(make(content))
    with _freed(made):
        yield made


@contextlib.contextmanager
def _freed(text: ctypes.c_void_p) -> Iterator[None]:
    try:
        yield
    finally:
        free: Any = library("oleaut32").SysFreeString
        free.argtypes, free.restype = (ctypes.c_void_p,), None
        free(text)


def _call(this: ctypes.c_void_p, method: int, *arguments: Any) -> None:
    """Call one of an object's methods, by its place in the interface.  Raises _Refused."""
    table = ctypes.cast(this, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    kinds = [
        type(each) if isinstance(each, ctypes.c_void_p | _Variant) else ctypes.c_void_p
        for each in arguments
    ]
    # On a 64-bit Windows there is one way to call all functions.
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *kinds)(table[method] or 0)
    _check(function(this, *arguments))


def _check(result: int) -> None:
    if result < 0:
        raise _Refused(result & 0xFFFFFFFF)
