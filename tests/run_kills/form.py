# mypy: ignore-errors
"""A form of GTK 3 that keeps its own record of what was entered, in a file that outlives it.

Its argument is that file.  A line ``run N`` in it, which the test writes, empties the form for a
run of that number; it answers by ``shown N``.  ``hide N ROW`` takes a row away until ``unhide N
ROW``, and ``focus N ROW`` is a person who puts the caret there.  ``settle N K`` is answered by
``settled N K`` once all that had come before is done.  Whatever is entered is a line: its
run, its row, the time and, where something was typed, all that the row has.  Once it is started
again it shows what its record says.  Debian's own Python runs it.
"""

import sys
import time
from pathlib import Path

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

FIELDS = (3, 6)
"""Rows to be typed in; the others are buttons."""

ROWS = 6
LOOK_MILLISECONDS = 50


class Form:
    """One window of rows, each with a word on what was done to it."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.run = self.read = self.settled = 0
        self.lines = record.open("a", buffering=1)
        self.window = Gtk.Window(title="Orders")
        self.window.move(40, 30)
        self.grid = Gtk.Grid(column_spacing=12, row_spacing=4, border_width=8)
        self.window.add(self.grid)
        self.rows, self.words, self.fields = {}, {}, {}
        for row in range(1, ROWS + 1):
            self.words[row] = Gtk.Label(width_chars=12)
            self.rows[row] = self.field(row) if row in FIELDS else self.button(row)
            self.grid.attach(self.rows[row], 0, row, 1, 1)
            self.grid.attach(self.words[row], 1, row, 1, 1)
        self.window.show_all()
        self.look(is_first=True)
        GLib.timeout_add(LOOK_MILLISECONDS, self.look)

    def button(self, row: int) -> Gtk.Button:
        """A row that is pressed."""
        button = Gtk.Button(label=f"Order {row}")
        button.connect("clicked", lambda _: self.enter(row))
        return button

    def field(self, row: int) -> Gtk.Entry:
        """A row that is typed in; a press in it is recorded too."""
        self.fields[row] = field = Gtk.Entry(width_chars=24)
        field.get_accessible().set_name(f"Note {row}")
        self.typed = field.connect("changed", lambda entry: self.enter(row, entry.get_text()))
        field.connect("button-press-event", lambda *_: self.enter(row))
        return field

    def enter(self, row: int, text: str | None = None) -> None:
        """Record what somebody has done, and say so."""
        if not self.run:
            return  # It is being emptied.
        verb = "pressed" if text is None else "typed"
        self.lines.write(
            " ".join([verb, str(self.run), str(row), repr(time.time()), text or ""]) + "\n"
        )
        self.words[row].set_text(f"Done {row}")

    def look(self, *, is_first: bool = False) -> bool:
        """See whether it is to be emptied, or after its start how far it had come."""
        size = self.record.stat().st_size
        if size != self.read:
            self.read = size
            lines = [line.split(" ") for line in self.record.read_text().splitlines()]
            run = max((int(line[1]) for line in lines if line[0] == "run"), default=0)
            self.hide([line for line in lines if line[1] == str(run)])
            if run != self.run:
                self.show(run, [line for line in lines if line[1] == str(run)] if is_first else [])
            elif lines[-1][0] == "focus":
                self.focus(int(lines[-1][2]))
            self.settle(run, [int(line[2]) for line in lines if line[0] == "settle"])
        return True

    def hide(self, lines: list[list[str]]) -> None:
        """Show the rows that are not hidden."""
        last = {int(line[2]): line[0] for line in lines if line[0] in ("hide", "unhide")}
        for row, widget in self.rows.items():
            widget.set_visible(last.get(row) != "hide")

    def show(self, run: int, lines: list[list[str]]) -> None:
        """Show a run's rows as they were entered so far, and where the caret was."""
        self.run = 0
        for row, word in self.words.items():
            word.set_text("")
            if row in self.fields:
                self.fields[row].set_text("")
        entered = []
        for verb, _, *more in lines:
            if verb in ("pressed", "typed"):
                entered.append(int(more[0]))
                self.words[entered[-1]].set_text(f"Done {entered[-1]}")
            if verb == "typed":
                self.fields[entered[-1]].set_text(more[2])
        if entered and entered[-1] in self.fields:
            self.focus(entered[-1])
        self.run = run
        self.lines.write(f"shown {run}\n")

    def settle(self, run: int, numbers: list[int]) -> None:
        """Say so once all that its display has for it by now is done."""
        number = max(numbers, default=0)
        if number > self.settled:
            self.settled = number
            Gdk.Display.get_default().sync()
            said = f"settled {run} {number}\n"
            GLib.idle_add(lambda: self.lines.write(said) and False, priority=GLib.PRIORITY_LOW)

    def focus(self, row: int) -> None:
        """Put the caret into a field, behind what is there."""
        self.fields[row].grab_focus_without_selecting()
        self.fields[row].set_position(-1)


Form(Path(sys.argv[1]))
Gtk.main()
