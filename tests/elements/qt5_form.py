# mypy: ignore-errors
"""The form in Qt 5, which keeps its own record of what was pressed, as `gtk3_form.py` does."""

import sys

from form import ALIKE, COLUMNS, ROW, SECOND, shown
from PyQt5.QtCore import QEvent, QObject, QPoint, QSocketNotifier, Qt, QTimer
from PyQt5.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QStyle,
    QWidget,
)


def say(*words: object) -> None:
    """Tell what happened."""
    print(*words, flush=True)


class Form(QWidget):
    """One window of rows."""

    def __init__(self, count: int, title: str, first: int = 0) -> None:
        super().__init__()
        self.first = first
        self.second = None
        self.setWindowTitle(title)
        grid = QGridLayout(self)
        self.widgets = {}
        for number, kind, text in shown(count):
            row, place = divmod(number, ROW)
            column = row % COLUMNS * (ROW + 1) + place + (place > 0)
            self.widgets[number] = widget = self._made(kind, text)
            if isinstance(widget, QAbstractButton):
                widget.clicked.connect(lambda _, number=first + number: say("pressed", number))
            if kind == "field":
                label = QLabel(text)
                label.setBuddy(widget)
                grid.addWidget(label, row // COLUMNS, column)
                column += 1
            grid.addWidget(widget, row // COLUMNS, column)
        QApplication.instance().installEventFilter(self)

    def _made(self, kind: str, text: str) -> QWidget:
        match kind:
            case "field":
                return QLineEdit(f"of {text}")
            case "check":
                return QCheckBox(text)
            case "toggle":
                toggle = QPushButton(text)
                toggle.setCheckable(True)
                return toggle
            case "slider":
                return QSlider(Qt.Horizontal)
            case "number":
                return QSpinBox()
            case "icon":
                return QPushButton(self.style().standardIcon(QStyle.SP_TrashIcon), "")
        return QPushButton(text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Record a press on what is no button, or on a part of it."""
        if event.type() == QEvent.MouseButtonPress:
            for number, widget in self.widgets.items():
                if watched in (widget, *widget.children()) and not isinstance(
                    widget, QAbstractButton
                ):
                    say("pressed", self.first + number)
        return False

    def told(self, verb: str, argument: str) -> None:
        """Do as it was told."""
        match verb:
            case "where":
                for number, widget in self.widgets.items():
                    middle = QPoint(widget.width() // 2, widget.height() // 2)
                    place = widget.mapToGlobal(middle)
                    say("at", number, place.x(), place.y())
            case "font":
                font = QApplication.font()
                font.setPointSize(int(argument))
                QApplication.setFont(font)
                self.adjustSize()
            case "second":
                self.second = Form(ALIKE, argument, first=SECOND)
                self.second.show()
            case "theme":
                QApplication.setStyle("Windows")


def main() -> None:
    """Show the form until the end of the input."""
    application = QApplication(sys.argv[:1])
    form = Form(int(sys.argv[1]), sys.argv[2])
    form.show()

    def heard() -> None:
        line = sys.stdin.readline()
        if not line:
            application.quit()
            return
        verb, _, argument = line.rstrip("\n").partition(" ")
        form.told(verb, argument)
        # Behind all that is still to be drawn and heard.
        QTimer.singleShot(20, lambda: say("done"))

    notifier = QSocketNotifier(0, QSocketNotifier.Read)
    notifier.activated.connect(lambda *_: heard())
    QTimer.singleShot(200, lambda: say("shown"))
    application.exec_()


main()
