"""Which elements are meant: names, texts and refs held against what programs tell.  Without I/O."""

from collections.abc import Iterable, Sequence

from machine_client.desktop.accessibility.nodes import Node
from machine_client.desktop.accessibility.refs import identity_of, parsed
from schemas.inputs.globs import Pattern
from schemas.inputs.selectors import Selector, Sought


class Search:
    """One selector, or what a list is to have."""

    def __init__(self, sought: Sought) -> None:
        self._sought = sought
        self._name, self._value, self._window, self._application = (
            None if glob is None else Pattern(glob)
            for glob in (sought.name, sought.value, sought.window, sought.application)
        )
        self._has_ref = isinstance(sought, Selector) and sought.ref is not None
        self._ref = parsed(sought.ref) if isinstance(sought, Selector) and sought.ref else None

    @property
    def needs_values(self) -> bool:
        """Whether values have to be read to know."""
        return self._value is not None or self._sought.text is not None

    def in_application(self, name: str) -> bool:
        """Whether elements of this program can be meant."""
        return self._application is None or self._application.fits(name)

    def on_bus(self, name: str) -> bool:
        """The same, by the program's name on the bus."""
        return not self._has_ref or (self._ref is not None and self._ref.address.name == name)

    def in_window(self, title: str) -> bool:
        """Whether elements of this window can be meant."""
        return self._window is None or self._window.fits(title)

    def may_be(self, node: Node) -> bool:
        """Whether a node of which only address and role are known can fit."""
        return (self._sought.role is None or node.role == self._sought.role) and (
            not self._has_ref or (self._ref is not None and node.address == self._ref.address)
        )

    def may_fit(self, node: Node) -> bool:
        """Whether a node fits as far as can be told without its value."""
        return (
            self.may_be(node)
            and (self._name is None or self._name.fits(node.name))
            and (self._ref is None or identity_of(node) == self._ref.identity)
        )

    def fits(self, node: Node) -> bool:
        """Whether a node that may fit does, now that its value is known."""
        text = self._sought.text
        return (
            self._value is None or (node.value is not None and self._value.fits(node.value))
        ) and (text is None or text in node.name or (node.value is not None and text in node.value))


def without_parts(found: Sequence[Node]) -> list[Node]:
    """The nodes without those that are a part of another, and called the same.

    A button's label is not another thing than the button.
    """
    whole = {id(node) for node in found}
    return [
        node
        for node in found
        if not any(id(each) in whole and each.name == node.name for each in node.ancestors)
    ]


def named(nodes: Iterable[Node], most: int = 3) -> str:
    """Some nodes for a person, such as ``push button "Save" in "Invoice 7"``."""
    names: list[str] = []
    for node in nodes:
        if len(names) == most:
            return ", ".join(names) + " and others"
        names.append(f'{node.role} "{node.name[:60]}" in "{node.window.name[:60]}"')
    return ", ".join(names)
