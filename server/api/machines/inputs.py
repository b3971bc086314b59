"""The inputs of mouse and keyboard, one operation each."""

from dataclasses import replace

from schemas.inputs import bodies
from server.api.machines.sending import InputHandler, input_endpoint

VALUES_OF_A_PATH = 1000
"""JSON values in the body of a move: three for each point of its path, and its own."""


class DragMouseHandler(InputHandler):
    post = input_endpoint("Drag mouse", bodies.DragMouse)(InputHandler.carry_out)


class ClickMouseHandler(InputHandler):
    post = input_endpoint("Click mouse button", bodies.ClickMouse)(InputHandler.carry_out)


class ScrollMouseHandler(InputHandler):
    post = input_endpoint("Scroll mouse wheel", bodies.ScrollMouse)(InputHandler.carry_out)


class MoveMouseHandler(InputHandler):
    post = replace(
        input_endpoint("Move mouse cursor", bodies.MoveMouse),
        description="With a path, the pointer passes its points on the way.",
        max_body_values=VALUES_OF_A_PATH,
    )(InputHandler.carry_out)


class PressKeysHandler(InputHandler):
    post = input_endpoint("Send key combination", bodies.PressKeys)(InputHandler.carry_out)


class TypeTextHandler(InputHandler):
    post = input_endpoint("Type text", bodies.TypeText)(InputHandler.carry_out)
