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
    found = re.search(rf"const {table} = {{\n(.*?)^}};", WORDS, re.MULTILINE | re.DOTALL)
    assert found
    return dict(re.findall(r'^  "?([a-z_.]+)"?: "(.+)",$', found[1], re.MULTILINE))


def test_every_input_has_an_action() -> None:
    inputs = {action for action in ACTIONS if action.startswith(f"{INPUT_FAMILY}.")}
    assert inputs == {f"{INPUT_FAMILY}.{operation}" for operation in Operation}


def test_console_has_words_for_every_action() -> None:
    said = words("ACTIONS") | {
        f"{INPUT_FAMILY}.{operation}": word for operation, word in words("OPERATIONS").items()
    }
    assert {*said} - {f"{INPUT_FAMILY}.hand"} == {*ACTIONS}


@pytest.mark.parametrize("action", ACTIONS)
def test_documentation_has_every_action(action: str) -> None:
    kind, _, done = action.partition(".")
    (row,) = re.findall(rf"^\| `{kind}`.*", DOCUMENTED.read_text(), re.MULTILINE)
    assert f"`{done}`" in row
