# mypy: ignore-errors
"""The form of orders in Qt 5, which keeps its own record, as `gtk3_orders.py` does."""

import json
import os
import sys

from told import Record, say

SCENARIO = json.loads(sys.argv[1])
os.environ["QT_SCALE_FACTOR"] = str(SCENARIO["scale"])
os.environ["QT_SCALE_FACTOR_ROUNDING_POLICY"] = "PassThrough"

from PyQt5.QtCore import QSocketNotifier, Qt, QTimer  # noqa: E402
from PyQt5.QtGui import QColor, QKeySequence, QPalette  # noqa: E402
from PyQt5.QtWidgets import (  # noqa: E402
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QMenu,
    QPushButton,
    QShortcut,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QVBoxLayout,
    QWidget,
)

LOSES_FOCUS_AFTER = 150
"""Milliseconds after a field has the focus, if it is to lose it."""


class Field(QLineEdit):
    """A field that tells when it gets the focus."""

    got_focus = None

    def focusInEvent(self, event):  # noqa: N802
        """It has the focus."""
        super().focusInEvent(event)
        if self.got_focus is not None:
            self.got_focus()


class Form(QMainWindow):
    """The window, and what stands in its way."""

    def __init__(self) -> None:
        super().__init__()
        self.record = Record(SCENARIO["record"])
        self.filled = SCENARIO["filled"]
        self.places = {}
        self.actions = {}
        self.others = []
        self.setWindowTitle(SCENARIO["title"])
        QShortcut(QKeySequence("Ctrl+S"), self).activated.connect(lambda: self.record.did("save"))
        self._menus()
        middle = QWidget()
        self.box = QVBoxLayout(middle)
        self.setCentralWidget(middle)
        self._fields()
        self._choices()
        self._orders()
        self._list()
        self._ends()
        self.record.may_write = True

    def _is_there(self, name):
        return name not in SCENARIO["without"]

    def _menus(self):
        menus = {"File": ("Export", "Print", "Close"), "Order": ("Archive", "Duplicate", "Split")}
        for title, labels in menus.items():
            menu = self.menuBar().addMenu(title)
            self.actions[title] = (self.menuBar(), menu.menuAction())
            for label in filter(self._is_there, labels):
                action = menu.addAction(label)
                action.triggered.connect(lambda *_, label=label: self.record.did(label.lower()))
                self.actions[label] = (menu, action)

    def _line(self):
        line = QHBoxLayout()
        self.box.addLayout(line)
        return line

    def _fields(self):
        line = self._line()
        for text in ("Customer", "Reference", "Remarks"):
            name = text.lower()
            if self._is_there(name):
                label = QLabel(text)
                label.setBuddy(self._field(name))
                line.addWidget(label)
                line.addWidget(self.places[name])
        line.addStretch()

    def _field(self, name):
        field = self.places[name] = Field(self.filled.get(name, ""))
        field.setFixedWidth(110)
        field.textChanged.connect(lambda text: self.record.holds(name, text))
        if SCENARIO["loses_focus"] and name != "remarks":
            field.got_focus = self._lose_focus
        return field

    def _lose_focus(self):
        QTimer.singleShot(LOSES_FOCUS_AFTER, self.places["remarks"].setFocus)

    def _choices(self):
        line = self._line()
        if self._is_there("delivery"):
            line.addWidget(QLabel("Delivery"))
            combo = self.places["delivery"] = QComboBox()
            combo.addItems(("Standard", "Express", "Pickup"))
            combo.setCurrentText(self.filled.get("delivery", "Standard"))
            combo.currentTextChanged.connect(lambda text: self.record.holds("delivery", text))
            line.addWidget(combo)
        for text in filter(self._is_there, ("Paid", "Urgent", "Gift")):
            name = text.lower()
            box = self.places[text] = QCheckBox(text)
            box.setChecked(self.filled.get(name, False))
            box.toggled.connect(lambda is_on, name=name: self.record.holds(name, is_on))
            line.addWidget(box)
        if self._is_there("priority"):
            line.addWidget(QLabel("Priority"))
            slider = self.places["priority"] = QSlider(Qt.Horizontal)
            slider.setRange(0, 100)
            slider.setFixedWidth(200)
            slider.setValue(self.filled.get("priority", 0))
            slider.valueChanged.connect(lambda value: self.record.holds("priority", value))
            line.addWidget(slider)
        line.addStretch()

    def _orders(self):
        grid = QGridLayout()
        self.box.addLayout(grid)
        for row, order in enumerate(SCENARIO["orders"]):
            widgets = [QLabel(f"Order {order}"), QLabel("12.00")]
            if self._is_there("note"):
                widgets.append(self._field(f"note {order}"))
            for text in filter(self._is_there, ("Edit", "Delete")):
                button = self.places[f"{text} {order}"] = QPushButton(text)
                button.clicked.connect(
                    lambda *_, text=text, order=order: self._pressed(text, order)
                )
                widgets.append(button)
            for place, widget in enumerate(widgets):
                grid.addWidget(widget, row, place)
        grid.setColumnStretch(9, 1)

    def _pressed(self, text, order):
        if text == "Edit":
            self.record.did(f"edit {order}")
        else:
            self._ask(order)

    def _ask(self, order):
        """Whether it is really to be deleted."""
        dialog = QDialog(self)
        dialog.setWindowTitle("Delete")
        column = QVBoxLayout(dialog)
        column.addWidget(QLabel(f"Delete order {order}?"))
        for text in ("Keep", "Yes"):
            button = self.places[text] = QPushButton(text)
            button.clicked.connect(lambda *_, text=text: self._answered(dialog, text, order))
            column.addWidget(button)
        dialog.move(self.x() + 180, self.y() + 150)
        dialog.open()

    def _answered(self, dialog, text, order):
        dialog.close()
        self.record.did(f"{'delete' if text == 'Yes' else 'keep'} {order}")

    def _list(self):
        self.items = QListWidget()
        self.items.addItems(SCENARIO["items"])
        self.items.setFixedHeight(150)
        self.items.currentTextChanged.connect(lambda text: self.record.holds("selected", text))
        self.items.itemDoubleClicked.connect(lambda item: self.record.did(f"open {item.text()}"))
        self.items.setContextMenuPolicy(Qt.CustomContextMenu)
        self.items.customContextMenuRequested.connect(self._list_asked)
        if self._is_there("list"):
            self.box.addWidget(self.items)
        self.menu = QMenu(self)
        for text in ("Flag", "Hide", "Copy"):
            if self._is_there(text):
                action = self.menu.addAction(text)
                action.triggered.connect(lambda *_, text=text: self._chosen(text))
                self.actions[text] = (self.menu, action)

    def _list_asked(self, place):
        if self.items.itemAt(place) is not None:
            self.menu.popup(self.items.viewport().mapToGlobal(place))

    def _chosen(self, text):
        self.record.did(f"{text.lower()} {self.items.currentItem().text()}")

    def _ends(self):
        line = self._line()
        for text in filter(self._is_there, ("Save", "Discard")):
            button = self.places[text] = QPushButton(text)
            button.setEnabled(text not in SCENARIO["disabled"])
            button.clicked.connect(lambda *_, text=text: self.record.did(text.lower()))
            line.addWidget(button)
        line.addStretch()

    def appear(self):
        """Show it, and what is in its way."""
        scale = SCENARIO["scale"]
        self.move(*(round(each / scale) for each in SCENARIO["at"]))
        self.show()
        self.activateWindow()
        if SCENARIO["covered"]:
            QTimer.singleShot(100, self._cover)
        if SCENARIO["beside"]:
            QTimer.singleShot(100, self._beside)

    def _cover(self):
        """A dialog that hides all of it until it is answered."""
        cover = QDialog(self)
        cover.setWindowTitle("Update")
        cover.setModal(True)
        column = QVBoxLayout(cover)
        column.addWidget(QLabel("A new version is there."))
        later = QPushButton("Later")
        later.clicked.connect(lambda *_: self.record.did("answer the dialog"))
        column.addWidget(later)
        cover.setGeometry(
            max(0, self.x() - 10), max(0, self.y() - 10), self.width() + 20, self.height() + 20
        )
        cover.show()

    def _beside(self):
        """Another window, which has the focus."""
        other = QWidget()
        other.setWindowTitle("Notes")
        QVBoxLayout(other).addWidget(QLineEdit())
        other.move(self.x(), self.y() + self.height() + 10)
        other.show()
        other.activateWindow()
        self.others.append(other)

    def where(self, name):
        """The middle of something, or None while it is not to be seen."""
        if name.startswith("item "):
            item = self.items.findItems(name.removeprefix("item "), Qt.MatchExactly)[0]
            area = self.items.visualItemRect(item)
            if not self.items.viewport().rect().contains(area):
                return None
            return _at(self.items.viewport(), area.left() + 30, area.center().y())
        if name.startswith("choice "):
            return self._where_choice(name.removeprefix("choice "))
        if name.startswith("priority "):
            return self._where_on_slider(int(name.removeprefix("priority ")))
        if name in self.actions:
            menu, action = self.actions[name]
            if not menu.isVisible():
                return None
            middle = menu.actionGeometry(action).center()
            return _at(menu, middle.x(), middle.y())
        widget = self.places.get(name)
        if widget is None or not widget.isVisible():
            return None
        return _at(widget, widget.width() // 2, widget.height() // 2)

    def _where_choice(self, text):
        combo = self.places["delivery"]
        view = combo.view()
        if not view.isVisible():
            return None
        area = view.visualRect(combo.model().index(combo.findText(text), 0))
        return _at(view.viewport(), area.left() + 20, area.center().y())

    def _where_on_slider(self, value):
        """Where its knob stands at a value."""
        slider = self.places["priority"]
        option = QStyleOptionSlider()
        slider.initStyleOption(option)
        option.sliderPosition = value
        area = slider.style().subControlRect(
            QStyle.CC_Slider, option, QStyle.SC_SliderHandle, slider
        )
        return _at(slider, area.center().x(), area.center().y())


def _at(widget, x, y):
    place = widget.mapToGlobal(widget.rect().topLeft())
    scale = SCENARIO["scale"]
    return round((place.x() + x) * scale), round((place.y() + y) * scale)


def _dark(application):
    palette = QPalette()
    for role, colour in (
        (QPalette.Window, "#2b2b2b"),
        (QPalette.WindowText, "#eeeeee"),
        (QPalette.Base, "#1e1e1e"),
        (QPalette.Text, "#eeeeee"),
        (QPalette.Button, "#3a3a3a"),
        (QPalette.ButtonText, "#eeeeee"),
        (QPalette.Highlight, "#2a82da"),
        (QPalette.HighlightedText, "#ffffff"),
    ):
        palette.setColor(role, QColor(colour))
    application.setPalette(palette)


def main() -> None:
    """Show the form until the end of the input."""
    application = QApplication(sys.argv[:1])
    application.setStyle("Fusion")
    application.setQuitOnLastWindowClosed(False)
    if SCENARIO["theme"] == "dark":
        _dark(application)
    font = application.font()
    font.setPointSize(SCENARIO["font"])
    application.setFont(font)
    form = Form()

    def heard() -> None:
        line = sys.stdin.readline()
        if not line:
            application.quit()
            return
        verb, _, argument = line.rstrip("\n").partition(" ")
        if verb == "where":
            say("at", *(form.where(argument) or ()))
        # Behind all that is still to be drawn and heard.
        QTimer.singleShot(50, lambda: say("done"))

    notifier = QSocketNotifier(0, QSocketNotifier.Read)
    notifier.activated.connect(lambda *_: heard())
    if SCENARIO["delay"]:
        say("shown")
        QTimer.singleShot(round(SCENARIO["delay"] * 1000), form.appear)
    else:
        form.appear()
        QTimer.singleShot(200, lambda: say("shown"))
    application.exec_()


main()
