"""The machine client's settings, checked before anything starts."""

import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from machine_client.credentials import Credentials, joining
from machine_client.desktop.choose import KINDS, kind_of_desktop
from machine_client.desktop.vnc.address import VncServer, parse_address
from machine_client.system.directories import state_directory
from schemas.link.messages import CONNECT_PATH
from schemas.programs.log_lines import LogFormat
from schemas.programs.settings import (
    ProgramSettings,
    SettingsError,
    SettingsFile,
    SettingsSources,
    check_settings,
)

CONFIG_VARIABLE = "FARHAND_MACHINE_CONFIG"

MACHINES = "machines"
OF_ONE = (
    *("token", "token_file", "code", "code_file", "desktop", "display", "state_dir"),
    *("vnc", "vnc_password_file"),
)
"""What only the list itself can say where a file has one."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _in_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path}: there is no such user's home directory") from None


HomePath = Annotated[Path, AfterValidator(_in_home)]
"""A path that may begin with ``~``."""


def _server_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname:
        raise ValueError("must be the server's address, such as https://farhand.example")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be an address alone, without a user, a query or a token in it")
    _check_host_and_port(parts)
    return url


def check_proxy_address(url: str) -> str:
    """A proxy's address as it is.  Raises ValueError, which says what is wrong with it."""
    # The value can hold a password, so no message repeats it.
    parts = urlsplit(url)
    if parts.scheme not in PROXY_SCHEMES or not parts.hostname:
        raise ValueError("must be a proxy's address, such as http://user:password@proxy:3128")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("must be a proxy's address alone, without a path or a query")
    if parts.username is not None and parts.password is None:
        raise ValueError("has a user without a password")
    _check_host_and_port(parts)
    return url


def _check_host_and_port(parts: SplitResult) -> None:
    """Find what urllib and the resolver would trip over only when they are used."""
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("has a port that is not a number from 0 to 65535") from None
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError:
        raise ValueError("has a host that cannot be a name or an address") from None


def _certificates(file: Path) -> Path:
    try:
        ssl.create_default_context(cafile=file)
    except OSError as error:
        raise ValueError(f"{file} cannot be read as certificates: {error.strerror}") from None
    return file


PROXY_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})


def _own_state_directory() -> Path:
    try:
        return state_directory()
    except OSError as error:
        raise SettingsError(f"{error}: name a directory for the journal with --state-dir") from None


def _kind_of_desktop(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"must be a kind of desktop: {', '.join(KINDS)}")
    return kind


def _vnc_address(text: str) -> str:
    parse_address(text)
    return text


class MachineSettings(ProgramSettings):
    """Everything that the owner of a desktop may choose."""

    environment_prefix: ClassVar[str] = "FARHAND_MACHINE_"

    server: Annotated[str, AfterValidator(_server_address)]
    token: SecretStr | None = None
    token_file: HomePath | None = Field(None, description="A file with the token alone.")
    code: SecretStr | None = Field(
        None, description="A join code, with which this host becomes a machine."
    )
    code_file: HomePath | None = Field(None, description="A file with the join code alone.")
    desktop: Annotated[str, AfterValidator(_kind_of_desktop)] | None = Field(
        None, description="The kind of desktop; unset: what the environment has."
    )
    display: str | None = Field(None, description="The X display; unset: the session's own.")
    vnc: Annotated[str, AfterValidator(_vnc_address)] | None = Field(
        None, description="A VNC server's host and TCP port: it is the desktop then."
    )
    vnc_password_file: HomePath | None = Field(
        None, description="A file with the VNC server's password alone."
    )
    vnc_ca_file: Annotated[HomePath, AfterValidator(_certificates)] | None = Field(
        None, description="Certificates to trust for the VNC server instead of the system's."
    )
    vnc_characters: int = Field(
        16,
        ge=0,
        description="How many different keys are pressed through a VNC server that it may lack: "
        "characters beyond ASCII, and a few named ones.",
    )
    state_dir: HomePath = Field(
        default_factory=_own_state_directory, description="Where the journal is kept."
    )
    proxy: Annotated[str, AfterValidator(check_proxy_address)] | None = Field(
        None, description="Unset: the environment's proxy, if any."
    )
    ca_file: Annotated[HomePath, AfterValidator(_certificates)] | None = Field(
        None, description="Certificates to trust instead of the system's."
    )
    heartbeat: float = Field(20, gt=0, le=60, description="Seconds between two pings.")
    reconnect_longest: float = Field(
        15, gt=0, le=600, description="Seconds between two tries, unless the server wants more."
    )
    desktop_check: float = Field(
        1.5,
        ge=0.05,
        le=1.5,
        description="Seconds between two looks whether it is there.",
    )
    screen: bool = Field(True, description="Whether operators may look at this desktop.")
    screen_rate: float = Field(10, gt=0, le=30, description="Live pictures a second, at most.")
    screen_bytes_per_second: int = Field(
        4_000_000, ge=10_000, description="What live pictures may take of the network, on average."
    )
    clipboard_read: bool = Field(
        True, description="Whether programs and operators may read what was copied here."
    )
    clipboard_write: bool = Field(True, description="Whether they may copy something here.")
    elements: bool = Field(
        True,
        description="Whether they may see and name the elements of this desktop; not without the "
        "screen.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: LogFormat = Field("text", description="json: one object for each line.")
    log_file: HomePath | None = Field(
        None, description="A file to log into, of which four are kept; unset: standard error."
    )

    @model_validator(mode="after")
    def _one_token(self) -> "MachineSettings":
        if self.code is not None and self.code_file is not None:
            raise ValueError("give the join code, or a file with it, and not both")
        if self.token is not None and self.token_file is not None:
            raise ValueError("give the machine's token, or a token file, and not both")
        if self.token is not None and self.has_code:
            raise ValueError("give the machine's token, or a join code, and not both")
        if not (self.has_code or self.has_joined or self.token_file):
            raise ValueError("give the machine's token, or a token file, or a join code")
        return self

    @model_validator(mode="after")
    def _vnc_is_named(self) -> "MachineSettings":
        if self.desktop == "vnc" and self.vnc is None:
            raise ValueError("vnc: name the VNC server, such as 127.0.0.1:5900")
        return self

    @property
    def vnc_server(self) -> VncServer | None:
        """The VNC server that is named, if one is."""
        if self.vnc is None:
            return None
        password, ca_file = self.vnc_password_file, self.vnc_ca_file
        return VncServer(*parse_address(self.vnc), password, ca_file, self.vnc_characters)

    @property
    def kind_of_desktop(self) -> str | None:
        """What is worked on: what is set, or what was chosen by looking; None: there is nothing."""
        return self.desktop or kind_of_desktop(self.display, self.vnc_server)

    @property
    def secret_files(self) -> Mapping[str, Path]:
        """The files that nobody else should read, by what they hold."""
        files = {
            "token file": self.token_file,
            "join code": self.code_file,
            "VNC password": self.vnc_password_file,
        }
        return {what: file for what, file in files.items() if file is not None}

    @property
    def has_code(self) -> bool:
        """Whether it can join where it has no token yet."""
        return self.code is not None or self.code_file is not None

    @property
    def has_joined(self) -> bool:
        """Whether it has a token already, and so needs no code."""
        return self.token is not None or self.own_token_file.exists()

    @property
    def own_token_file(self) -> Path:
        """Where the token is kept, or will be."""
        return self.token_file or self.state_dir / f"token{self._desktop_name}"

    def read_credentials(self) -> Credentials:
        """What it is known by, from where that is kept.  Raises OSError or ValueError.

        Where there is no token yet, but a code, a token is made.
        """
        if self.token is not None:
            return Credentials(_word(self.token.get_secret_value(), "token"))
        if self.has_joined or not self.has_code:
            token = _word(self.own_token_file.read_text(), "token")
            return Credentials(token, file=self.own_token_file)
        if self.code is not None:
            code = self.code.get_secret_value()
        elif self.code_file is not None:
            code = self.code_file.read_text()
        return joining(self.own_token_file, _word(code, "join code"))

    @property
    def websocket_url(self) -> str:
        """Where the link is made, on the server that ``server`` names."""
        parts = urlsplit(self.server)
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + CONNECT_PATH, "", ""))

    @property
    def journal_file(self) -> Path:
        """Each display is a machine of its own, with a journal of its own."""
        return self.state_dir / f"journal{self._desktop_name}.sqlite3"

    @property
    def _desktop_name(self) -> str:
        """What tells this desktop's files from those of others beside them."""
        named = f"vnc-{self.vnc}" if self.kind_of_desktop == "vnc" else self.display or "session"
        return re.sub(r"[^A-Za-z0-9.-]", "_", named)


def _word(text: str, what: str) -> str:
    """A secret out of a file or an option.  Raises ValueError."""
    secret = text.strip()
    if not re.fullmatch(r"[\x21-\x7e]{1,200}", secret):
        raise ValueError(f"the {what} must be one word of visible ASCII characters")
    return secret


def read_machines(
    file: Path | None, command_line: Mapping[str, Any]
) -> Mapping[str, MachineSettings]:
    """Read and check the settings of each machine, by its name.

    ``command_line`` has what was given there.  A file can list several ``[[machines]]``: each has a
    name, settings of its own, and those that are given outside of the list.  The one machine that
    is in no list has the empty name.  Raises SettingsError, with a line for each mistake.
    """
    try:
        content = None if file is None else SettingsFile.parsed(file, file.read_bytes())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    if content is None or MACHINES not in content.content:
        return {"": _checked(content, command_line)}
    _refuse_what_only_one_can_have(command_line)
    found: dict[str, MachineSettings] = {}
    mistakes = []
    for name, part in _listed(content).items():
        try:
            found[name] = _checked(part, command_line)
        except SettingsError as error:
            mistakes += [line for line in str(error).splitlines() if line not in mistakes]
    mistakes += _shared_journals(found)
    if mistakes:
        raise SettingsError("\n".join(mistakes))
    return found


def _shared_journals(machines: Mapping[str, MachineSettings]) -> list[str]:
    owners: dict[Path, str] = {}
    mistakes = []
    for name, settings in machines.items():
        file = settings.journal_file.resolve()
        if file in owners:
            mistakes.append(f"{owners[file]} and {name} would have one journal, {file}")
        owners[file] = name
    return mistakes


def _checked(file: SettingsFile | None, command_line: Mapping[str, Any]) -> MachineSettings:
    sources = SettingsSources(os.environ, command_line, file, also_known=(CONFIG_VARIABLE,))
    return check_settings(MachineSettings, sources)


def _refuse_what_only_one_can_have(command_line: Mapping[str, Any]) -> None:
    given = [f"--{name.replace('_', '-')}" for name in OF_ONE if command_line.get(name) is not None]
    variables = {name.upper() for name in os.environ}
    prefix = MachineSettings.environment_prefix
    given += [prefix + name.upper() for name in OF_ONE if prefix + name.upper() in variables]
    if given:
        raise SettingsError(
            f"{', '.join(given)}: belongs to one machine, and the file has a list of them: "
            "give it there, to the machine that it is for"
        )


def _listed(file: SettingsFile) -> dict[str, SettingsFile]:
    """What the file has for each machine in its list.  Raises SettingsError."""
    common = {name: value for name, value in file.content.items() if name != MACHINES}
    machines = file.content[MACHINES]
    if not isinstance(machines, list) or not machines:
        raise SettingsError(f"{file.path}: machines: must be a list of [[machines]], one at least")
    found: dict[str, SettingsFile] = {}
    for number, machine in enumerate(machines, 1):
        place = f"{file.path}: [[machines]] number {number}"
        name = machine.get("name") if isinstance(machine, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise SettingsError(
                f"{place}: name: must be there, of at most 64 letters, digits, '.', '_' and '-', "
                "and begin with a letter or a digit"
            )
        if name in found:
            raise SettingsError(f"{place}: name: {name} is another one's already")
        own = {key: value for key, value in machine.items() if key != "name"}
        found[name] = SettingsFile(file.path, _merged(common, own, name), f"{name}: ")
    return found


def _merged(common: Mapping[str, Any], own: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of one machine: its own count before the common ones."""
    merged = {**common, **own}
    if "state_dir" not in own:
        # A journal is of one machine alone.
        merged["state_dir"] = str(
            Path(str(common.get("state_dir") or _own_state_directory())) / name
        )
    return merged
