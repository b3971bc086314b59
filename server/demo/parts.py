"""Starts the demo's parts: the server, the virtual desktop with its window, and the machine."""

import importlib.util
import json
import os
import select
import shutil
import socket
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from farhand import AlreadyExists, Farhand
from server.data_directory import ADDRESS_FILE, ADMIN_TOKEN_FILE
from server.demo import DemoError
from server.demo.children import START_SECONDS, Child, Children, python_module
from server.programs.installing import how_to_install
from server.settings import ServerSettings

MACHINE_ID, MACHINE_NAME = "demo", "Demo desktop"
SCREEN = "1280x800"
CONSOLE_TOKEN_DAYS = 7
REQUEST_SECONDS = 60.0
USUAL_PORT = int(ServerSettings.model_fields["port"].default)

# Modules of the extra "machine" without which the desktop's side cannot run.
_MACHINE_MODULES = ("Xlib", "mss", "pynput", "websockets")


def check_installed() -> str:
    """The path of Xvfb; raises DemoError that says what to install."""
    missing = [name for name in _MACHINE_MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise DemoError(
            f"the machine client's packages are missing ({', '.join(missing)}): "
            + how_to_install("machine")
        )
    path = shutil.which("Xvfb")
    if path is None:
        raise DemoError("Xvfb, which draws the virtual desktop, is missing: apt-get install xvfb")
    return str(Path(path).absolute())


def stands_on(workers: int) -> str:
    """What a server of so many workers brings along, for a person."""
    if workers == 1:
        return "with its own MongoDB"
    return f"{workers} nodes, own MongoDB"


def start_server(
    children: Children, data_directory: Path, workers: int, port: int | None = None
) -> tuple[Child, int | None]:
    """Start a server; returns it and what `wait_for_server` needs to know of the time before.

    Its port is the usual one, if that is free, unless there is another.
    """
    before = _version(data_directory / ADDRESS_FILE)
    if port is None:
        port = USUAL_PORT if _is_free(USUAL_PORT) else 0
    command = python_module("server", "serve", "--host", "127.0.0.1", "--port", str(port))
    if workers > 1:
        command += ["--workers", str(workers)]
    return children.start("server", [*command, "--data-dir", str(data_directory)]), before


def until_served(
    children: Children, started: tuple[Child, int | None], data_directory: Path, workers: int
) -> tuple[Child, str, Farhand]:
    """As `wait_for_server`, and with the server: another, where its port was taken meanwhile."""
    server, before = started
    try:
        return server, *wait_for_server(children, server, before, data_directory)
    except DemoError:
        if "cannot listen on" not in server.output():
            raise
    children.end(server)
    server, before = start_server(children, data_directory, workers, port=0)
    return server, *wait_for_server(children, server, before, data_directory)


def wait_for_server(
    children: Children, server: Child, before: int | None, data_directory: Path
) -> tuple[str, Farhand]:
    """The address of a server that has just been started, and a client that may do anything."""
    file = data_directory / ADDRESS_FILE

    def address() -> str | None:
        # The file of a server that ran here before tells nothing of this one.
        return file.read_text().strip() if _version(file) != before else None

    found = children.wait_for(address, "the server takes requests", server)
    token = admin_token(data_directory)
    # A server that does not answer is the demo's end, and no proxy is between it and its children.
    return found, Farhand(found, token, timeout=REQUEST_SECONDS, retry=False, trust_env=False)


def admin_token(data_directory: Path) -> str:
    """The token that may do anything."""
    token_file = data_directory / ADMIN_TOKEN_FILE
    try:
        return token_file.read_text().strip()
    except OSError as error:
        raise DemoError(
            f"cannot read the administrator's token in {token_file}: {error.strerror}; give "
            "another --data-dir"
        ) from None


def start_display(children: Children, xvfb: str, name: str = "Xvfb") -> str:
    """Start an X server on a free display and return the display's name, such as ``:7``."""
    options = ("-screen", "0", f"{SCREEN}x24", "-nolisten", "tcp", "-noreset")
    return f":{start_telling(children, name, [xvfb, '-displayfd', '{}', *options])}"


def start_telling(children: Children, name: str, command: Sequence[str]) -> str:
    """Start a program that writes where it is to a file descriptor, whose number {} stands for."""
    readable, writable = os.pipe()
    try:
        numbered = [each.format(writable) for each in command]
        child = children.start(name, numbered, pass_fds=[writable])
        os.close(writable)
        writable = -1
        return _read_line(readable, child)
    finally:
        os.close(readable)
        if writable >= 0:
            os.close(writable)


def _read_line(readable: int, child: Child) -> str:
    """What a child says on a pipe; it closes its end when it dies."""
    text, deadline = b"", time.monotonic() + START_SECONDS
    while not text.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left < 0 or not select.select([readable], [], [], left)[0]:
            raise DemoError(f"{child.name} did not say in time where it is{child.last_words()}")
        if not (more := os.read(readable, 32)):
            child.process.wait(START_SECONDS)
            child.check()
        text += more
    return text.decode().strip()


def start_window(children: Children, display: str) -> Child:
    """Start the window that shows what arrives."""
    return children.start(
        "window", python_module("machine_client.demo.window", "--display", display)
    )


def add_machine(
    farhand: Farhand, data_directory: Path, machine_id: str = MACHINE_ID, name: str = MACHINE_NAME
) -> Path:
    """Add the machine, or let the one that is there already in; returns its token's file."""
    try:
        token = farhand.machines.add(machine_id, name=name).token
    except AlreadyExists:
        scopes = ["machine:connect"]
        token = farhand.tokens.create("farhand demo", scopes=scopes, machine_id=machine_id)
    file = data_directory / f"{machine_id}-machine-token"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(token.token + "\n")
    return file


def sign_in_link(address: str, farhand: Farhand) -> str:
    """Where the console is, with a token of its own behind the #, which no browser sends on."""
    until = datetime.now(UTC) + timedelta(days=CONSOLE_TOKEN_DAYS)
    made = farhand.tokens.create("console of the demo", role="operator", expires_at=until)
    return f"{address}/console/#token={made.token}"


def start_machine(
    children: Children, address: str, token_file: Path, display: str, state: Path, bus: str = ""
) -> Child:
    """Start a machine client on the display, where programs may tell of themselves on a bus.

    ``state`` is the directory of its journal, whose name is what people call it.
    """
    command = python_module("machine_client", "join", "--server", address)
    command += ["--token-file", str(token_file), "--display", display]
    variables = {"DBUS_SESSION_BUS_ADDRESS": bus} if bus else {}
    return children.start(state.name, [*command, "--state-dir", str(state)], variables=variables)


def wait_for_machine(
    children: Children, machine: Child, farhand: Farhand, machine_id: str = MACHINE_ID
) -> None:
    """Wait until input can be sent to it."""

    def is_online() -> bool:
        found = farhand.machine(machine_id).get()
        if found.state == "no_input":
            raise DemoError(f"the machine cannot take input: {json.dumps(found.reason)}")
        return found.state == "online"

    children.wait_for(is_online, "the machine is connected", machine)


def wait_for_window(children: Children, window: Child) -> None:
    """Wait until it takes input."""
    children.wait_for(lambda: window.output().startswith("open\n"), "the window is open", window)


def _version(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As a server binds: what lingers of closed connections does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
