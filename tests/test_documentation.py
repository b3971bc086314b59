"""The pages that are made from tables in the code are what the tables say today.

``python tests/test_documentation.py`` writes them anew.
"""

from itertools import groupby
from pathlib import Path

from schemas.keys import KEY_TABLE, NamedKey

KEYS_PAGE = Path(__file__).parent.parent / "docs" / "keys.md"

KEYS_HEAD = """# Key combinations

The `text` of `POST /v1/computer/{machine_id}/input/keyboard/key`:

- `+` joins the keys of one chord, a space separates chords that are pressed one after another:
  `ctrl+a`, `ctrl+a ctrl+c`, `down down enter`.
- A chord has any number of modifiers and at most one other key.
- A single character stands for itself, with its case: `A` is the character A, so `ctrl+A` is ctrl,
  shift and a. It is typed as that character whatever the layout, Caps Lock or a person's hand on
  the keyboard; characters that the layout lacks are typed, too. `+` is `plus`, a chord that is only
  `+`, or a second `+` at a chord's end (`ctrl++`); the space bar is `space`.
- Names are those below. Their case does not matter, and `-` and `_` are alike: `Page-Up`.
- The whole text is checked before the first key is pressed; an unknown name is a validation error
  that says which.
- With `"down": true` the keys are held until `"down": false`, or until the machine's link ends.

To type a text as it is, send it to `POST /v1/computer/{machine_id}/input/keyboard/type` as `text`
(1 to 1000 characters): there are no names in it, a line's end is Return, a tab is Tab, and other
control codes are a validation error. It is checked whole as well; a character that the layout lacks
and no unused key is left for is refused by its place, and never repeated in a message.

| key | other names |
|---|---|
"""


def keys_page() -> str:
    """The page about key combinations."""
    rows = [KEYS_HEAD.rstrip("\n")]
    for group, keys in groupby(KEY_TABLE, key=lambda key: key.group):
        rows.append(f"| **{group}** | |")
        rows += [_row(key) for key in keys]
    return "\n".join(rows) + "\n"


def _row(key: NamedKey) -> str:
    character = "" if key.character in (None, " ") else f" {_code(key.character)}"
    others = ", ".join(f"`{alias}`" for alias in key.aliases)
    return f"| `{key.name}`{character} | {others} |"


def _code(character: str | None) -> str:
    """A character as Markdown's code in a table, where two characters are special."""
    return {"`": "`` ` ``", "|": "`\\|`"}.get(character or "", f"`{character}`")


def test_keys_page_is_what_the_table_says() -> None:
    assert KEYS_PAGE.read_text() == keys_page()


if __name__ == "__main__":
    KEYS_PAGE.write_text(keys_page())
