"""The command ``farhand-machine``."""

from machine_client.cli import farhand_machine


def main() -> None:
    """Run the command line and exit with its code: 0, 1 failed, 2 used wrongly."""
    farhand_machine(prog_name="farhand-machine")


if __name__ == "__main__":
    main()
