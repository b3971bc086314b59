"""A virtual pointer and keyboard that do nothing unless told: a seat has both while they are there.

Declared here for pywayland, whose wheels do not have these protocols.
"""

from typing import Any

from pywayland.protocol.wayland import WlSeat
from pywayland.protocol_core.argument import Argument
from pywayland.protocol_core.interface import Interface
from pywayland.protocol_core.proxy import Proxy
from pywayland.scanner.argument import ArgumentType


class VirtualPointer(Interface):
    name = "zwlr_virtual_pointer_v1"
    version = 1


class VirtualPointerManager(Interface):
    name = "zwlr_virtual_pointer_manager_v1"
    version = 1


class VirtualKeyboard(Interface):
    name = "zwp_virtual_keyboard_v1"
    version = 1


class VirtualKeyboardManager(Interface):
    name = "zwp_virtual_keyboard_manager_v1"
    version = 1


class VirtualPointerProxy(Proxy[VirtualPointer]):
    interface = VirtualPointer


class VirtualKeyboardProxy(Proxy[VirtualKeyboard]):
    interface = VirtualKeyboard


class VirtualPointerManagerProxy(Proxy[VirtualPointerManager]):
    interface = VirtualPointerManager

    @VirtualPointerManager.request(
        Argument(ArgumentType.Object, interface=WlSeat, nullable=True),
        Argument(ArgumentType.NewId, interface=VirtualPointer),
    )
    def create_virtual_pointer(self, seat: Any) -> Any:
        return self._marshal_constructor(0, VirtualPointer, seat)


class VirtualKeyboardManagerProxy(Proxy[VirtualKeyboardManager]):
    interface = VirtualKeyboardManager

    @VirtualKeyboardManager.request(
        Argument(ArgumentType.Object, interface=WlSeat),
        Argument(ArgumentType.NewId, interface=VirtualKeyboard),
    )
    def create_virtual_keyboard(self, seat: Any) -> Any:
        return self._marshal_constructor(0, VirtualKeyboard, seat)


for _interface, _proxy in (
    (VirtualPointer, VirtualPointerProxy),
    (VirtualKeyboard, VirtualKeyboardProxy),
    (VirtualPointerManager, VirtualPointerManagerProxy),
    (VirtualKeyboardManager, VirtualKeyboardManagerProxy),
):
    _interface._gen_c()
    _interface.proxy_class = _proxy
