# mypy: ignore-errors
"""A program of Qt 5 with a field for passwords, as `gtk3_sign_in.py` is."""

import sys
from pathlib import Path

from PyQt5.QtWidgets import QApplication, QLineEdit

application = QApplication(sys.argv[:1])
field = QLineEdit()
field.setEchoMode(QLineEdit.Password)
field.setWindowTitle("Sign in")
field.setGeometry(20, 20, 300, 40)


def note(password: str) -> None:
    """Put a password into the record."""
    with Path(sys.argv[1]).open("a") as record:
        record.write(f"{password}\n")


def entered() -> None:
    """Note a password, and empty the field."""
    note(field.text())
    field.clear()


field.returnPressed.connect(entered)
field.show()
application.exec_()
