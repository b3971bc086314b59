"""The command ``farhand``."""

from server.cli import farhand


def main() -> None:
    """Run the command line and exit with its code: 0, 1 failed, 2 used wrongly."""
    farhand(prog_name="farhand")


if __name__ == "__main__":
    main()
