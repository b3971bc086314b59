"""Whatever the audit can say is said in words, in the console and in the documentation."""

import re
from typing import get_args

import pytest

from schemas.inputs.bodies import Operation
from schemas.resources.actions import Action
from schemas.resources.audit import INPUT_FAMILY
from tests.server.console.test_assets import STATIC

ACTIONS = get_args(Action)
WORDS = (STATIC / "parts" / "words.js").read_text()
DOCUMENTED = STATIC.parents[2] / "docs" / "reference" / "audit.md"


def words(table: str) -> dict[str, str]:
    """A table of words in the console."""
    found = re.search(rf"const {table} = {{(.*?)}};", WORDS, re.DOTALL)
    assert found
    return dict(re.findall(r'"?([a-z_.]+)"?: "([^"]+)"', found[1]))


def test_every_input_has_an_action() -> None:
    inputs = {action for action in ACTIONS if action.startswith(f"{INPUT_FAMILY}.")}
    assert inputs == {f"{INPUT_FAMILY}.{operation}" for operation in Operation}


def test_console_has_words_for_every_action() -> None:
    """Most are a verb and a noun, such as "Added a machine"; the others have words of their own."""
    assert {*words("OPERATIONS")} - {"hand"} == {*Operation}
    own, verbs = words("ACTIONS"), words("VERBS")
    assert {*own} <= {*ACTIONS}
    for action in {*ACTIONS} - {*own}:
        noun, _, verb = action.partition(".")
        if noun != INPUT_FAMILY:
            said = f"{verbs.get(verb, verb.capitalize())} a {noun}"
            assert re.fullmatch("[A-Z][a-z]+ a [b-df-hj-np-tv-z][a-z]+", said), said


@pytest.mark.parametrize("action", ACTIONS)
def test_documentation_has_every_action(action: str) -> None:
    kind, _, done = action.partition(".")
    (row,) = re.findall(rf"^\| `{kind}`.*", DOCUMENTED.read_text(), re.MULTILINE)
    assert f"`{done}`" in row
