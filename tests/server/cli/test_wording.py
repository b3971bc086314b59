"""Refusals in the words of the command line."""

import click
import pytest

from farhand.errors import WrongPart
from server.cli.administration import create_token
from server.cli.machines import add_machine
from server.cli.wording import in_words_of_the_command


@pytest.mark.parametrize(
    ("command", "loc", "message", "said"),
    [
        (add_machine, ("body", "id"), "must be a word", "ID must be a word"),
        (add_machine, ("path", "machine_id"), "is reserved", "ID: is reserved"),
        (create_token, ("body", "expires_at"), "has passed", "--expires-in: has passed"),
        (create_token, ("body", "scopes", "0"), "Input should be x", "--scope must be x"),
        (create_token, ("body", "other"), "is wrong", "body.other: is wrong"),
        (create_token, ("body",), "is wrong", "body: is wrong"),
    ],
)
def test_field_is_the_option_or_argument_that_gave_it(
    command: click.Command, loc: tuple[str, ...], message: str, said: str
) -> None:
    wrong = WrongPart(loc, message, "x")
    with click.Context(command):
        assert in_words_of_the_command([wrong]) == said


def test_outside_of_a_command_the_place_is_the_requests() -> None:
    wrong = WrongPart(("body", "id"), "is wrong", "x")
    assert in_words_of_the_command([wrong, wrong]) == "body.id: is wrong; body.id: is wrong"
