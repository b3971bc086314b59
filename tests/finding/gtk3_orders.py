# mypy: ignore-errors
"""A form of orders in GTK 3, which keeps its own record of what was entered and done.

Its argument is a scenario as `scenario.py` writes it, in JSON.  On its standard input it is asked
where something is ("where" and a name), or just to answer once all is drawn and heard ("nothing").
Debian's own Python runs it.
"""

import json
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402
from told import Record, say  # noqa: E402

WAYS = ("Standard", "Express", "Pickup")
LOSES_FOCUS_AFTER = 150
"""Milliseconds after a field has the focus, if it is to lose it."""


class Form:
    """The window, and what stands in its way."""

    def __init__(self, scenario) -> None:
        self.scenario = scenario
        self.record = Record(scenario["record"])
        self.filled = scenario["filled"]
        self.places = {}
        self.window = Gtk.Window(title=scenario["title"])
        self.window.move(*scenario["at"])
        self.window.connect("destroy", Gtk.main_quit)
        keys = Gtk.AccelGroup()
        keys.connect(ord("s"), Gdk.ModifierType.CONTROL_MASK, 0, self._save)
        self.window.add_accel_group(keys)
        column = Gtk.VBox(spacing=6)
        self.window.add(column)
        self._menus(column)
        self.box = Gtk.VBox(spacing=6, border_width=10)
        column.pack_start(self.box, True, True, 0)
        self._fields()
        self._choices()
        self._orders()
        self._list()
        self._ends()
        self.record.may_write = True

    def _save(self, *_):
        self.record.did("save")
        return True

    def _is_there(self, name):
        return name not in self.scenario["without"]

    def _menus(self, column):
        bar = Gtk.MenuBar()
        menus = {"File": ("Export", "Print", "Close"), "Order": ("Archive", "Duplicate", "Split")}
        for title, labels in menus.items():
            menu = Gtk.Menu()
            for label in filter(self._is_there, labels):
                menu.append(self._menu_item(label, label.lower()))
            head = self.places[title] = Gtk.MenuItem(label=title)
            head.set_submenu(menu)
            bar.append(head)
        column.pack_start(bar, False, False, 0)

    def _menu_item(self, label, words):
        item = self.places[label] = Gtk.MenuItem(label=label)
        item.connect("activate", lambda _: self.record.did(words))
        return item

    def _line(self):
        line = Gtk.HBox(spacing=8)
        self.box.pack_start(line, False, False, 0)
        return line

    def _fields(self):
        line = self._line()
        for label in ("Customer", "Reference", "Remarks"):
            name = label.lower()
            if self._is_there(name):
                line.pack_start(Gtk.Label(label=label), False, False, 0)
                line.pack_start(self._field(name), False, False, 0)

    def _field(self, name):
        field = self.places[name] = Gtk.Entry(width_chars=12, text=self.filled.get(name, ""))
        field.connect("changed", lambda entry: self.record.holds(name, entry.get_text()))
        if self.scenario["loses_focus"] and name != "remarks":
            field.connect("focus-in-event", self._lose_focus)
        return field

    def _lose_focus(self, *_):
        GLib.timeout_add(LOSES_FOCUS_AFTER, self.places["remarks"].grab_focus)

    def _choices(self):
        line = self._line()
        if self._is_there("delivery"):
            line.pack_start(Gtk.Label(label="Delivery"), False, False, 0)
            combo = self.places["delivery"] = Gtk.ComboBoxText()
            for each in WAYS:
                combo.append_text(each)
            combo.set_active(WAYS.index(self.filled.get("delivery", "Standard")))
            combo.connect("changed", lambda c: self.record.holds("delivery", c.get_active_text()))
            line.pack_start(combo, False, False, 0)
        for label in filter(self._is_there, ("Paid", "Urgent", "Gift")):
            box = self.places[label] = Gtk.CheckButton(
                label=label, active=self.filled.get(label.lower(), False)
            )
            box.connect("toggled", self._ticked, label.lower())
            line.pack_start(box, False, False, 0)
        if self._is_there("priority"):
            line.pack_start(Gtk.Label(label="Priority"), False, False, 0)
            slider = self.places["priority"] = Gtk.Scale.new_with_range(0, 0, 100, 1)
            slider.set_size_request(200, -1)
            slider.set_draw_value(False)
            slider.set_value(self.filled.get("priority", 0))
            slider.connect("value-changed", lambda s: self.record.holds("priority", s.get_value()))
            line.pack_start(slider, False, False, 0)

    def _ticked(self, box, name):
        self.record.holds(name, box.get_active())

    def _orders(self):
        grid = Gtk.Grid(column_spacing=12, row_spacing=4)
        self.box.pack_start(grid, False, False, 0)
        for row, order in enumerate(self.scenario["orders"]):
            widgets = [Gtk.Label(label=f"Order {order}"), Gtk.Label(label="12.00")]
            if self._is_there("note"):
                widgets.append(self._field(f"note {order}"))
            for label in filter(self._is_there, ("Edit", "Delete")):
                button = self.places[f"{label} {order}"] = Gtk.Button(label=label)
                button.connect("clicked", self._pressed, label, order)
                widgets.append(button)
            for place, widget in enumerate(widgets):
                grid.attach(widget, place, row, 1, 1)

    def _pressed(self, _, label, order):
        if label == "Edit":
            self.record.did(f"edit {order}")
        else:
            self._ask(order)

    def _ask(self, order):
        """Whether it is really to be deleted."""
        dialog = Gtk.Dialog(title="Delete", transient_for=self.window, modal=True)
        dialog.get_content_area().pack_start(
            Gtk.Label(label=f"Delete order {order}?", margin=20), True, True, 0
        )
        for label, answer in (("Keep", 0), ("Yes", 1)):
            self.places[label] = dialog.add_button(label, answer)
        dialog.connect("response", self._answered, order)
        x, y = self.window.get_position()
        dialog.move(x + 180, y + 150)
        dialog.show_all()

    def _answered(self, dialog, answer, order):
        dialog.destroy()
        self.record.did(f"{'delete' if answer == 1 else 'keep'} {order}")

    def _list(self):
        store = Gtk.ListStore(str)
        for each in self.scenario["items"]:
            store.append([each])
        self.tree = Gtk.TreeView(model=store, headers_visible=False, enable_search=False)
        self.tree.append_column(Gtk.TreeViewColumn("Item", Gtk.CellRendererText(), text=0))
        self.tree.get_selection().connect("changed", self._selected)
        self.tree.connect("row-activated", self._opened)
        self.tree.connect("button-press-event", self._list_pressed)
        scrolled = Gtk.ScrolledWindow(overlay_scrolling=False)
        scrolled.set_size_request(-1, 150)
        scrolled.add(self.tree)
        if self._is_there("list"):
            self.box.pack_start(scrolled, True, True, 0)
        self.menu = Gtk.Menu()
        for label in ("Flag", "Hide", "Copy"):
            if self._is_there(label):
                item = self.places[label] = Gtk.MenuItem(label=label)
                item.connect("activate", self._chosen, label)
                self.menu.append(item)
        self.menu.show_all()

    def _item(self):
        model, row = self.tree.get_selection().get_selected()
        return None if row is None else model[row][0]

    def _selected(self, _):
        if self._item() is not None:
            self.record.holds("selected", self._item())

    def _opened(self, tree, path, _):
        self.record.did(f"open {tree.get_model()[path][0]}")

    def _list_pressed(self, tree, event):
        if event.button != 3:
            return False
        found = tree.get_path_at_pos(int(event.x), int(event.y))
        if found is not None:
            tree.get_selection().select_path(found[0])
            self.menu.popup_at_pointer(event)
        return True

    def _chosen(self, _, label):
        self.record.did(f"{label.lower()} {self._item()}")

    def _ends(self):
        line = self._line()
        for label in filter(self._is_there, ("Save", "Discard")):
            button = self.places[label] = Gtk.Button(label=label)
            button.set_sensitive(label not in self.scenario["disabled"])
            button.connect("clicked", lambda _, label=label: self.record.did(label.lower()))
            line.pack_start(button, False, False, 0)

    def show(self):
        """Show it, and what is in its way."""
        self.window.show_all()
        if self.scenario["covered"]:
            GLib.timeout_add(100, self._cover)
        if self.scenario["beside"]:
            GLib.timeout_add(100, self._beside)
        return False

    def _cover(self):
        """A dialog that hides all of it until it is answered."""
        cover = Gtk.Dialog(title="Update", transient_for=self.window, modal=True)
        cover.get_content_area().pack_start(
            Gtk.Label(label="A new version is there."), True, True, 0
        )
        cover.add_button("Later", 0)
        x, y = self.window.get_position()
        cover.move(max(0, x - 10), max(0, y - 10))
        cover.set_default_size(*(each + 20 for each in self.window.get_size()))
        cover.connect("response", lambda *_: self.record.did("answer the dialog"))
        cover.show_all()
        return False

    def _beside(self):
        """Another window, which has the focus."""
        other = Gtk.Window(title="Notes")
        other.add(Gtk.Entry())
        height = self.window.get_size().height
        x, y = self.window.get_position()
        other.move(x, y + height + 10)
        other.show_all()
        other.present()
        return False

    def where(self, name):
        """The middle of something, or None while it is not to be seen."""
        if name.startswith("item "):
            return self._where_item(name.removeprefix("item "))
        if name.startswith("choice "):
            return self._where_choice(name.removeprefix("choice "))
        if name.startswith("priority "):
            return self._where_on_slider(int(name.removeprefix("priority ")))
        widget = self.places.get(name)
        if widget is None or not widget.get_mapped():
            return None
        return _middle(widget)

    def _where_item(self, text):
        model = self.tree.get_model()
        path = next(Gtk.TreePath(n) for n, row in enumerate(model) if row[0] == text)
        area = self.tree.get_cell_area(path, self.tree.get_column(0))
        shown = self.tree.get_visible_rect()
        if not 0 <= area.y <= shown.height - area.height:
            return None
        _, x, y = self.tree.get_bin_window().get_origin()
        return x + 30, y + area.y + area.height // 2

    def _where_choice(self, text):
        for menu in Gtk.Menu.get_for_attach_widget(self.places["delivery"]):
            return _middle(menu.get_children()[WAYS.index(text)])
        return None

    def _where_on_slider(self, value):
        """Where its knob stands at a value."""
        slider = self.places["priority"]
        area = slider.get_range_rect()
        x, y = _corner(slider)
        knob = slider.get_slider_range()
        width = knob[1] - knob[0]
        along = area.x + width / 2 + (area.width - width) * value / 100
        return x + round(along), y + area.y + area.height // 2


def _corner(widget):
    _, x, y = widget.get_window().get_origin()
    if widget.get_has_window():
        return x, y
    area = widget.get_allocation()
    return x + area.x, y + area.y


def _middle(widget):
    if not widget.get_mapped():
        return None
    x, y = _corner(widget)
    area = widget.get_allocation()
    return x + area.width // 2, y + area.height // 2


def main() -> None:
    """Show the form until the end of the input."""
    scenario = json.loads(sys.argv[1])
    settings = Gtk.Settings.get_default()
    settings.set_property("gtk-application-prefer-dark-theme", scenario["theme"] == "dark")
    settings.set_property("gtk-font-name", f"Sans {scenario['font']}")
    settings.set_property("gtk-xft-dpi", round(96 * 1024 * scenario["scale"]))
    settings.set_property("gtk-enable-animations", False)
    form = Form(scenario)

    def heard(*_):
        line = sys.stdin.readline()
        if not line:
            Gtk.main_quit()
            return False
        verb, _, argument = line.rstrip("\n").partition(" ")
        if verb == "where":
            say("at", *(form.where(argument) or ()))
        # Behind all that is still to be drawn and heard.
        GLib.timeout_add(50, lambda: say("done") or False)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, heard)
    if scenario["delay"]:
        say("shown")
        GLib.timeout_add(round(scenario["delay"] * 1000), form.show)
    else:
        form.show()
        GLib.timeout_add(200, lambda: say("shown") or False)
    Gtk.main()


main()
