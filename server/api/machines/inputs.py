"""The inputs of mouse and keyboard, one operation each."""

from dataclasses import replace

from schemas.inputs.bodies import (
    ClickMouse,
    DragMouse,
    MoveMouse,
    PressKeys,
    ScrollMouse,
    TypeText,
)
from server.api.machines.paths import MachinePath
from server.api.machines.sending import InputHandler, InputHeaders, input_endpoint

VALUES_OF_A_PATH = 1000
"""JSON values in the body of a move: three for each point of its path, and its own."""


class DragMouseHandler(InputHandler):
    @input_endpoint("Drag mouse", DragMouse)
    async def post(self, path: MachinePath, headers: InputHeaders, body: DragMouse) -> None:
        await self.carry_out(path, headers, body)


class ClickMouseHandler(InputHandler):
    @input_endpoint("Click mouse button", ClickMouse)
    async def post(self, path: MachinePath, headers: InputHeaders, body: ClickMouse) -> None:
        await self.carry_out(path, headers, body)


class ScrollMouseHandler(InputHandler):
    @input_endpoint("Scroll mouse wheel", ScrollMouse)
    async def post(self, path: MachinePath, headers: InputHeaders, body: ScrollMouse) -> None:
        await self.carry_out(path, headers, body)


class MoveMouseHandler(InputHandler):
    @replace(
        input_endpoint("Move mouse cursor", MoveMouse),
        description="With a path, the pointer passes its points on the way.",
        max_body_values=VALUES_OF_A_PATH,
    )
    async def post(self, path: MachinePath, headers: InputHeaders, body: MoveMouse) -> None:
        await self.carry_out(path, headers, body)


class PressKeysHandler(InputHandler):
    @input_endpoint("Send key combination", PressKeys)
    async def post(self, path: MachinePath, headers: InputHeaders, body: PressKeys) -> None:
        await self.carry_out(path, headers, body)


class TypeTextHandler(InputHandler):
    @input_endpoint("Type text", TypeText)
    async def post(self, path: MachinePath, headers: InputHeaders, body: TypeText) -> None:
        await self.carry_out(path, headers, body)
