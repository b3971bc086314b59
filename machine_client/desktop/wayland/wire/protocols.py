"""The interfaces of Wayland's protocols that are used here, as far as they are used.

Each is its messages in the order of their numbers.  What compositors call ``zwlr_`` are wlroots'
protocols; ``zwp_virtual_keyboard`` is shared with others.
"""

from typing import Final

from machine_client.desktop.wayland.wire.messages import Interface

_declared = Interface.declared

WL_DISPLAY: Final = _declared("wl_display", "sync:n get_registry:n", "error:ous delete_id:u")
REGISTRY: Final = _declared("wl_registry", "bind:usun", "global:usu global_remove:u")
CALLBACK: Final = _declared("wl_callback", events="done:u")

SHM: Final = _declared("wl_shm", "create_pool:nhi", "format:u")
SHM_POOL: Final = _declared("wl_shm_pool", "create_buffer:niiiiu destroy resize:i")
BUFFER: Final = _declared("wl_buffer", "destroy", "release")

SEAT: Final = _declared(
    "wl_seat", "get_pointer:n get_keyboard:n get_touch:n release", "capabilities:u name:s"
)
OUTPUT: Final = _declared(
    "wl_output",
    "release",
    "geometry:iiiiissi mode:uiii done scale:i name:s description:s",
)
XDG_OUTPUT_MANAGER: Final = _declared("zxdg_output_manager_v1", "destroy get_xdg_output:no")
XDG_OUTPUT: Final = _declared(
    "zxdg_output_v1",
    "destroy",
    "logical_position:ii logical_size:ii done name:s description:s",
)

POINTER_MANAGER: Final = _declared(
    "zwlr_virtual_pointer_manager_v1",
    "create_virtual_pointer:on destroy create_virtual_pointer_with_output:oon",
)
POINTER: Final = _declared(
    "zwlr_virtual_pointer_v1",
    "motion:uff motion_absolute:uuuuu button:uuu axis:uuf frame axis_source:u axis_stop:uu"
    " axis_discrete:uufi destroy",
)

KEYBOARD_MANAGER: Final = _declared("zwp_virtual_keyboard_manager_v1", "create_virtual_keyboard:on")
KEYBOARD: Final = _declared("zwp_virtual_keyboard_v1", "keymap:uhu key:uuu modifiers:uuuu destroy")

SCREENCOPY_MANAGER: Final = _declared(
    "zwlr_screencopy_manager_v1", "capture_output:nio capture_output_region:nioiiii destroy"
)
SCREENCOPY_FRAME: Final = _declared(
    "zwlr_screencopy_frame_v1",
    "copy:o destroy copy_with_damage:o",
    "buffer:uuuu flags:u ready:uuu failed damage:uuuu linux_dmabuf:uuu buffer_done",
)

DATA_MANAGER: Final = _declared(
    "zwlr_data_control_manager_v1", "create_data_source:n get_data_device:no destroy"
)
DATA_DEVICE: Final = _declared(
    "zwlr_data_control_device_v1",
    "set_selection:o destroy set_primary_selection:o",
    "data_offer:n=zwlr_data_control_offer_v1 selection:o finished primary_selection:o",
)
DATA_SOURCE: Final = _declared(
    "zwlr_data_control_source_v1", "offer:s destroy", "send:sh cancelled"
)
DATA_OFFER: Final = _declared("zwlr_data_control_offer_v1", "receive:sh destroy", "offer:s")

BROUGHT: Final = {DATA_OFFER.name: DATA_OFFER}
"""Interfaces of the objects that events bring, by name."""
