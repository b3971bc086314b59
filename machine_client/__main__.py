"""The command ``farhand-machine``."""

import sys

from machine_client.system.installing import how_to_install


def main() -> None:
    """Run the command line and exit with its code: 0, 1 failed, 2 used wrongly."""
    try:
        # Imported late: where the extra was not installed, a person should be told, in words.
        from machine_client.cli import farhand_machine  # noqa: PLC0415
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        sys.exit(f"Error: {library} is not installed: {how_to_install('machine')}")
    farhand_machine(prog_name="farhand-machine")


if __name__ == "__main__":
    main()
