"""What a compositor offers, by name, and what it withdraws."""

from collections.abc import Callable, Iterable

from machine_client.desktop.base import DesktopLost, InjectionUnavailable
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.messages import Interface


class Registry:
    """The globals of one connection; known once it is made.

    ``added`` and ``removed`` are called with the number of a global, and its name with the first.
    """

    def __init__(
        self,
        connection: WaylandConnection,
        added: Callable[[int, str], None] = lambda _number, _name: None,
        removed: Callable[[int], None] = lambda _number: None,
    ) -> None:
        self._connection = connection
        self._offered: dict[int, tuple[str, int]] = {}
        self._bound: dict[int, str] = {}
        self._withdrawn = ""
        self._added, self._removed = added, removed
        connection.registry.on = {"global": self._came, "global_remove": self._went}
        connection.round_trip()

    def offered(self) -> list[tuple[int, str]]:
        """The numbers and names of all globals."""
        return [(number, name) for number, (name, _) in self._offered.items()]

    def lacking(self, interfaces: Iterable[Interface]) -> list[str]:
        """The names of those that the compositor does not offer."""
        offered = {name for name, _ in self._offered.values()}
        return [each.name for each in interfaces if each.name not in offered]

    def bind(self, interface: Interface, version: int = 1, *, needed: bool = True) -> Proxy:
        """The first global of an interface, in this version or the older one that there is.

        One that is ``needed`` must stay: see `check`.  Raises InjectionUnavailable without one.
        """
        for number, (name, offered) in self._offered.items():
            if name == interface.name:
                if needed:
                    self._bound[number] = name
                return self.bind_number(number, interface, min(version, offered))
        raise InjectionUnavailable(f"This Wayland compositor offers no {interface.name}")

    def bind_number(self, number: int, interface: Interface, version: int) -> Proxy:
        """A global by its number."""
        proxy = self._connection.create(interface)
        self._connection.send(
            self._connection.registry, "bind", number, interface.name, version, proxy
        )
        return proxy

    def version(self, number: int) -> int:
        """In which version a global is offered."""
        return self._offered[number][1]

    def version_of(self, interface: Interface) -> int:
        """In which version an interface is offered; 0 where it is not."""
        return max(
            (version for name, version in self._offered.values() if name == interface.name),
            default=0,
        )

    def check(self) -> None:
        """Raise DesktopLost once the compositor has withdrawn something that is in use."""
        if self._withdrawn:
            raise DesktopLost(f"The Wayland compositor has withdrawn {self._withdrawn}")

    def _came(self, number: int, name: str, version: int) -> None:
        self._offered[number] = name, version
        self._added(number, name)

    def _went(self, number: int) -> None:
        self._offered.pop(number, None)
        self._withdrawn = self._withdrawn or self._bound.get(number, "")
        self._removed(number)
