# mypy: ignore-errors
"""A program of Qt 5 with elements, which says on its standard output what was done to them.

It is told on its standard input what to change, as `gtk3_program.py` is.  Debian's own Python runs
it.
"""

import sys

from PyQt5.QtCore import QSocketNotifier, QTimer
from PyQt5.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QScrollArea,
    QSlider,
    QVBoxLayout,
    QWidget,
)


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


class Program(QMainWindow):
    """One window with all kinds of elements, and buttons that can be changed."""

    def __init__(self, buttons: int, title: str) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self.setGeometry(100, 80, 600, 420)
        self.named: dict[str, QPushButton] = {}
        menu = self.menuBar().addMenu("File")
        for name in ("Open", "Store"):
            menu.addAction(name, lambda name=name: say("chose", name))
        central = QWidget()
        self.column = QVBoxLayout(central)
        self._fields()
        inner, scrolled = QWidget(), QScrollArea()
        grid = QGridLayout(inner)
        for number in range(buttons):
            grid.addWidget(self.add(f"Button {number}"), number // 6, number % 6)
        scrolled.setWidget(inner)
        self.column.addWidget(scrolled)
        for name in ("Save", "Cancel"):
            self.column.addWidget(self.add(name))
        self.setCentralWidget(central)

    def _fields(self) -> None:
        total, secret, choice = QLineEdit("4711"), QLineEdit("geheim"), QComboBox()
        secret.setEchoMode(QLineEdit.Password)
        total.textChanged.connect(lambda text: say("changed", text))
        choice.addItems(["Red", "Green"])
        choice.activated[str].connect(lambda text: say("chose", text))
        slider, agree = QSlider(1), QCheckBox("Agree")
        slider.valueChanged.connect(lambda value: say("slid", value))
        for name, widget in (("Total", total), ("Password", secret), ("Volume", slider)):
            widget.setAccessibleName(name)
            self.column.addWidget(widget)
        self.column.addWidget(agree)
        self.column.addWidget(choice)

    def add(self, name: str) -> QPushButton:
        """Make a button."""
        button = self.named[name] = QPushButton(name)
        button.clicked.connect(lambda: say("clicked", button.text()))
        return button

    def told(self, verb: str, argument: str) -> None:
        """Change as it was told."""
        match verb:
            case "move":
                self.move(*map(int, argument.split()))
            case "disable":
                self.named[argument].setEnabled(False)
            case "hide":
                self.named[argument].hide()
            case "rename":
                old, new = argument.split(" to ")
                self.named[old].setText(new)
            case "twin":
                self.column.addWidget(self.add(argument))
            case "font":
                font = QApplication.font()
                font.setPointSize(int(argument))
                QApplication.setFont(font)


def main() -> None:
    """Show the window until the end of the input."""
    application = QApplication(sys.argv[:1])
    program = Program(int(sys.argv[1]), sys.argv[2])
    program.show()

    def heard() -> None:
        line = sys.stdin.readline()
        if not line:
            application.quit()
            return
        verb, _, argument = line.rstrip("\n").partition(" ")
        program.told(verb, argument)
        QTimer.singleShot(50, lambda: say("done"))

    notifier = QSocketNotifier(0, QSocketNotifier.Read)
    notifier.activated.connect(lambda *_: heard())
    QTimer.singleShot(200, lambda: say("shown"))
    application.exec_()


main()
