"""The files in config/ are what one would really deploy with, so they are read for real."""

from pathlib import Path

from machine_client.settings import MachineSettings
from schemas.programs.settings import read_settings
from server.settings import ServerSettings

CONFIG = Path(__file__).parent.parent / "config"


def test_server_file_has_the_defaults() -> None:
    read = read_settings(ServerSettings, CONFIG / "server.toml", {})
    assert read.model_dump() == ServerSettings(data_dir=Path("/var/lib/farhand")).model_dump()


def test_server_file_names_every_setting() -> None:
    text = (CONFIG / "server.toml").read_text()
    assert not [name for name in ServerSettings.model_fields if f"{name} = " not in text]


def test_machine_file_is_understood() -> None:
    read = read_settings(MachineSettings, CONFIG / "machine.toml", {})
    assert read.websocket_url == "wss://farhand.example/v1/machines/connect"


def test_machine_file_has_the_defaults() -> None:
    given = {
        "server": "https://farhand.example",
        "token_file": Path("~/.config/farhand/machine-token"),
    }
    read = read_settings(MachineSettings, CONFIG / "machine.toml", {})
    assert read.model_dump() == read_settings(MachineSettings, None, given).model_dump()


def test_machine_file_names_every_setting_but_the_token_itself() -> None:
    text = (CONFIG / "machine.toml").read_text()
    missing = [name for name in MachineSettings.model_fields if f"{name} = " not in text]
    assert missing == ["token"]
