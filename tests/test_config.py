"""The files in config/ are what one would really deploy with, so they are read for real."""

from pathlib import Path

import machine_client.settings
import server.settings
from machine_client.settings import MachineSettings
from server.settings import ServerSettings

CONFIG = Path(__file__).parent.parent / "config"


def test_server_file_has_the_defaults() -> None:
    read = server.settings.read_settings(CONFIG / "server.toml", {})
    assert read.model_dump() == ServerSettings(data_dir=Path("/var/lib/farhand")).model_dump()


def test_server_file_names_every_setting() -> None:
    text = (CONFIG / "server.toml").read_text()
    assert not [name for name in ServerSettings.model_fields if f"{name} = " not in text]


def test_machine_file_is_understood() -> None:
    read = machine_client.settings.read_machines(CONFIG / "machine.toml", {})[""]
    assert read.websocket_url == "wss://farhand.example/v1/machines/connect"


def test_machine_file_has_the_defaults() -> None:
    given = {
        "server": "https://farhand.example",
        "token_file": Path("~/.config/farhand/machine-token"),
    }
    read = machine_client.settings.read_machines(CONFIG / "machine.toml", {})[""]
    assert read.model_dump() == machine_client.settings.read_machines(None, given)[""].model_dump()


def test_machine_file_names_every_setting_but_the_secrets_themselves() -> None:
    text = (CONFIG / "machine.toml").read_text()
    missing = [name for name in MachineSettings.model_fields if f"{name} = " not in text]
    assert missing == ["token", "code"]
