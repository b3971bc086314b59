"""The command ``farhand``."""

import sys

from server.programs.installing import how_to_install


def main() -> None:
    """Run the command line and exit with its code: 0, 1 failed, 2 used wrongly."""
    try:
        # Imported late, as each command is: where the extra was not installed, a person should be
        # told, in words.
        from server.cli import farhand  # noqa: PLC0415

        farhand(prog_name="farhand")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        library = "farhand-client" if library == "farhand" else library
        sys.exit(f"Error: {library} is not installed: {how_to_install('server')}")


if __name__ == "__main__":
    main()
