"""The server's settings, checked before anything starts."""

import os
import socket
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.programs import failpoints
from schemas.programs.log_lines import LogFormat
from schemas.programs.settings import (
    ProgramSettings,
    SettingsError,
    SettingsFile,
    SettingsSources,
    check_settings,
)
from server.data_directory import default_data_directory

HomePath = Annotated[Path, AfterValidator(Path.expanduser)]
"""A path that may begin with ``~``."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Network = IPv4Network | IPv6Network
"""An address is a network of one."""

CONFIG_VARIABLE = "FARHAND_CONFIG"
MACHINE_PREFIX = "FARHAND_MACHINE_"
OTHER_VARIABLES = ("FARHAND_URL", "FARHAND_TOKEN", CONFIG_VARIABLE, failpoints.VARIABLE)
"""Variables that are no settings of the server: the administrative commands', and how it starts."""


def _comma_separated(value: Any) -> Any:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return [_network(part) for part in value] if isinstance(value, list) else value


def _network(value: Any) -> Any:
    try:
        return ip_network(value)
    except ValueError:
        raise PydanticCustomError(
            "network", "must be addresses or networks such as 10.0.0.0/8, separated by commas"
        ) from None


def _nats_url(value: str) -> str:
    """Where NATS is; it may hold a password, so that no error repeats it."""
    for part in value.split(","):
        try:
            url = urlsplit(part)
            is_right = url.scheme in ("nats", "tls") and bool(url.hostname) and url.port != 0
        except ValueError:
            is_right = False
        if not is_right or not part.isprintable() or " " in part:
            raise PydanticCustomError(
                "nats_url",
                "must be nats://host:port or tls://host:port, with commas between several, each "
                "of them whole",
            )
    return value


def _text_in(file: Path) -> str:
    """What a file holds.  Raises ValueError, which never repeats it."""
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ValueError(f"{file} cannot be read: {reason}") from None


def _uri_in(file: Path) -> str:
    """The URI that a file holds alone.  Raises ValueError, which never repeats it."""
    uri = _text_in(file)
    if not uri.startswith(("mongodb://", "mongodb+srv://")) or not uri.isprintable():
        raise ValueError(f"{file} must hold a mongodb:// URI alone, in one line")
    return uri


def _holds_uri(file: Path) -> Path:
    _uri_in(file)
    return file


def _nats_url_in(file: Path) -> str:
    """Where NATS is, as a file says.  Raises ValueError, which never repeats it."""
    try:
        return _nats_url(_text_in(file))
    except PydanticCustomError as error:
        raise ValueError(f"what {file} holds {error.message()}") from None


def _holds_nats_url(file: Path) -> Path:
    _nats_url_in(file)
    return file


LEAST_PICTURE_SECONDS = 86_400
LEAST_PICTURE_BYTES = 1024 * 1024


def _none_or_a_day(seconds: float) -> float:
    """How long pictures are kept.  Raises ValueError."""
    if seconds != 0 and not LEAST_PICTURE_SECONDS <= seconds <= 100 * 365 * LEAST_PICTURE_SECONDS:
        raise ValueError("must be 0, which keeps them for ever, or from a day to 100 years")
    return seconds


def _none_or_a_megabyte(size: int) -> int:
    """What pictures may take.  Raises ValueError."""
    if size != 0 and size < LEAST_PICTURE_BYTES:
        raise ValueError("must be 0, which is no bound, or at least 1048576 bytes, a mebibyte")
    return size


MOST_DOCUMENTATION_BYTES = 64 * 1024 * 1024
"""The site is kept in memory: whoever names another directory is told, and no more."""


def _has_the_site(directory: Path) -> Path:
    """A directory with the documentation in it.  Raises ValueError."""
    if not (directory / "index.html").is_file():
        raise ValueError(f"{directory} has no index.html: make docs builds build/docs, which has")
    size = 0
    for file in directory.rglob("*"):
        if not os.access(file, os.R_OK):
            raise ValueError(f"{file} cannot be read")
        size += file.stat().st_size
        if size > MOST_DOCUMENTATION_BYTES:
            raise ValueError(f"{directory} has more in it than the documentation")
    return directory


class ServerSettings(ProgramSettings):
    """Everything that an operator may choose; times are seconds, sizes bytes."""

    environment_prefix: ClassVar[str] = "FARHAND_"

    # An empty host would mean every interface, and an empty variable is easily left behind.
    host: str = Field("127.0.0.1", min_length=1, description="The address to listen on.")
    port: int = Field(8600, ge=0, le=65535, description="0 lets the system choose.")
    data_dir: HomePath = Field(default_factory=default_data_directory)
    docs_dir: Annotated[HomePath, AfterValidator(_has_the_site)] | None = Field(
        None, description="Where the documentation is, built by make docs, for /docs to lead to."
    )
    mongodb_uri: str | None = Field(None, description="Unset: a MongoDB of the server's own.")
    mongodb_uri_file: Annotated[HomePath, AfterValidator(_holds_uri)] | None = Field(
        None, description="A file with the URI alone, which may hold a password."
    )
    nats_url: Annotated[str, AfterValidator(_nats_url)] | None = Field(
        None, description="Where NATS is, for several nodes; commas between several servers."
    )
    nats_url_file: Annotated[HomePath, AfterValidator(_holds_nats_url)] | None = Field(
        None, description="A file with that alone, which may hold a password."
    )
    secret_key_file: HomePath | None = Field(
        None,
        description="A file with the keys that encrypt secrets, the same on all nodes; unset, a "
        "server that is alone makes one in its data directory.",
    )
    node_name: str = Field(
        default_factory=socket.gethostname,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        description="What operators call this node.",
    )
    mongodb_database: str = Field("farhand", pattern=r"^[A-Za-z0-9_-]{1,60}$")
    input_timeout: Seconds = Field(30, le=3600, description="For an input, beside its duration.")
    input_response: Literal["representation", "minimal"] = "representation"
    unanswered_inputs: int = Field(64, ge=1, le=10_000, description="For one machine.")
    idempotency_key_lifetime: Seconds = Field(86_400, ge=60)
    authors_may_approve: bool = Field(
        False, description="Whether who made or changed a trajectory may approve it alone."
    )
    audit_lifetime: Seconds = Field(7_776_000, ge=60, description="That the audit is kept.")
    picture_lifetime: Annotated[float, AfterValidator(_none_or_a_day)] = Field(
        7_776_000,
        allow_inf_nan=False,
        description="That pictures of trajectories are kept after the last change; 0: for ever.",
    )
    picture_storage: Annotated[int, AfterValidator(_none_or_a_megabyte)] = Field(
        20 * 1024**3,
        description="For the pictures of an organization; beyond it the oldest go.  0: no bound.",
    )
    heartbeat: Seconds = Field(20, le=60, description="Between two heartbeats of a link.")
    reconnects_per_second: float = Field(
        400,
        gt=0,
        allow_inf_nan=False,
        description="Of machines that lost the server all at once, on average.",
    )
    screen_viewers: int = Field(200, ge=1, le=100_000, description="Of live screens, on this node.")
    screen_picture_bytes: int = Field(
        16 * 1024 * 1024, ge=64 * 1024, le=256 * 1024 * 1024, description="The largest picture."
    )
    vision_processes: int = Field(
        2, ge=1, le=64, description="Pictures that are looked at at once, for texts and pictures."
    )
    vision_memory: int = Field(
        2 * 1024**3, ge=1024**3, le=64 * 1024**3, description="Address space of each, in bytes."
    )
    vision_timeout: Seconds = Field(20, le=120, description="To look at one picture.")
    token_check: Seconds = Field(1, le=2, description="How long a revoked token may still work.")
    console_session_lifetime: Seconds = Field(
        604_800, ge=60, description="From signing in to the console; never beyond the token's end."
    )
    console_session_idle: Seconds = Field(28_800, ge=60, description="Without a request.")
    stop_timeout: Seconds = Field(160, description="For running inputs when the server stops.")
    idle_connection_timeout: Seconds = Field(75, description="For an idle HTTP connection.")
    trusted_proxies: Annotated[tuple[Network, ...], BeforeValidator(_comma_separated)] = Field(
        (), description="Whose X-Forwarded-For is believed: addresses and networks."
    )
    webhook_private_addresses: Annotated[tuple[Network, ...], BeforeValidator(_comma_separated)] = (
        Field(
            (), description="Addresses and networks, not the internet's, that webhooks may lead to."
        )
    )
    offline_after: Seconds = Field(
        120, le=86_400, description="That a machine may be away before webhooks are told."
    )
    webhook_outbox: int = Field(
        100_000, ge=1, description="Deliveries that are kept of an organization; the oldest go."
    )
    body_memory: int = Field(
        64 * 1024 * 1024, ge=16 * 1024 * 1024, description="For all request bodies together."
    )
    body_timeout: Seconds = Field(
        60,
        description="For a whole request body to arrive, and for a part of an answer to be read.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: LogFormat = Field("text", description="json: one object for each line.")

    @model_validator(mode="after")
    def _one_uri(self) -> "ServerSettings":
        if self.mongodb_uri is not None and self.mongodb_uri_file is not None:
            raise ValueError("give mongodb_uri or mongodb_uri_file, and not both")
        if self.nats_url is not None and self.nats_url_file is not None:
            raise ValueError("give nats_url or nats_url_file, and not both")
        return self

    @property
    def has_nats(self) -> bool:
        """Whether there is a NATS, and so may be other nodes."""
        return self.nats_url is not None or self.nats_url_file is not None

    def read_mongodb_uri(self) -> str | None:
        """Where MongoDB is, None for one of the server's own.  Raises ValueError."""
        return self.mongodb_uri if self.mongodb_uri_file is None else _uri_in(self.mongodb_uri_file)

    def read_nats_url(self) -> str | None:
        """Where NATS is, None for none.  Raises ValueError."""
        return self.nats_url if self.nats_url_file is None else _nats_url_in(self.nats_url_file)


def read_settings(file: Path | None, command_line: dict[str, Any]) -> ServerSettings:
    """Read and check all settings; ``command_line`` has what was given there.

    Raises SettingsError.
    """
    try:
        content = None if file is None else SettingsFile.parsed(file, file.read_bytes())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    sources = SettingsSources(os.environ, command_line, content, OTHER_VARIABLES, MACHINE_PREFIX)
    return check_settings(ServerSettings, sources)
