"""The inputs of mouse and keyboard, and those for elements, one operation each."""

from dataclasses import replace

from schemas.inputs import bodies
from schemas.inputs.texts import MAX_TEXT_LENGTH, MAX_TYPING_SECONDS, TYPING_SECONDS
from server.api.machines.sending import InputHandler, input_endpoint

VALUES_OF_A_PATH = 1000
"""JSON values in a body with a path: three for each of its points, and its own."""


class DragMouseHandler(InputHandler):
    post = replace(
        input_endpoint("Drag mouse", bodies.DragMouse),
        description="With a path, the pointer passes its points while the button is held; with a "
        "duration, that is spread over the length of the whole way.",
        max_body_values=VALUES_OF_A_PATH,
    )(InputHandler.carry_out)


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
    post = replace(
        input_endpoint("Send key combination", bodies.PressKeys),
        description="With hold, all its keys are held down together for that time, and with repeat "
        "the whole is done so often; both are for keys that are pressed and released.",
    )(InputHandler.carry_out)


class TypeTextHandler(InputHandler):
    post = replace(
        input_endpoint("Type text", bodies.TypeText),
        description=f"Up to {MAX_TEXT_LENGTH} characters.  For each that is not ASCII "
        f"{TYPING_SECONDS} s are reckoned, as a keyboard may lack it, and at most "
        f"{MAX_TYPING_SECONDS:g} s together.",
    )(InputHandler.carry_out)


class InvokeElementHandler(InputHandler):
    post = replace(
        input_endpoint("Invoke an element", bodies.InvokeElement),
        description="Has an element do what it is there for, such as a button what a click does.  "
        "No pointer moves, and it may be covered.",
    )(InputHandler.carry_out)


class SetElementValueHandler(InputHandler):
    post = replace(
        input_endpoint("Set the value of an element", bodies.SetElementValue),
        description="Puts a text into a field in the place of what it has, or a number into what "
        "has one, such as a slider.  No key is pressed.",
    )(InputHandler.carry_out)


class FocusElementHandler(InputHandler):
    post = replace(
        input_endpoint("Focus an element", bodies.FocusElement),
        description="Puts the keyboard's focus on an element.",
    )(InputHandler.carry_out)
