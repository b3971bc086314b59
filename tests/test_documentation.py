"""The pages that are made of tables in the code, and of files, are what those say today.

``python tests/test_documentation.py`` writes them anew.  A program on a page does what it says.
"""

import asyncio
import json
import os
from itertools import groupby
from pathlib import Path

from schemas.inputs.key_combinations import KEY_TABLE, NamedKey
from tests.service import running_service

DOCS = Path(__file__).parent.parent / "docs"
KEYS_PAGE = DOCS / "reference" / "keys.md"

SETTINGS_PAGE = DOCS / "reference" / "settings.md"
CONFIG = DOCS.parent / "config"

SETTINGS = """# Settings of the server and of the machine client

Both programs take their settings from a file, from the environment and from the command line. The
command line wins over the environment, and the environment over the file. These files have every
setting; what is not commented out is the default, but for `data_dir`, `server` and `token_file`.

## Server

`config/server.toml`:

```toml
{server}
```

## Machine client

`config/machine.toml`:

```toml
{machine}
```
"""

KEYS_HEAD = """# Key names and combinations

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
  that says at which characters it stands, and repeats nothing: it may be a password.
- With `"down": true` the keys are held until `"down": false`, or until the machine's link ends. A
  modifier that is held so counts for what follows; another key, pressed again, goes up and down.
  For a time that is known there is [`hold`](operations.md#gestures), and `repeat`.
- A key that somebody else holds down cannot be pressed: 502 `input-failed`, code `already_down`,
  before the first event. Only modifiers are set aside.

That is X11. Elsewhere layouts and what others hold are another matter: [desktops](desktops.md).

To type a text as it is, send it to `POST /v1/computer/{machine_id}/input/keyboard/type` as `text`
(1 to 10,000 characters): there are no names in it, a line's end is Return, a tab is Tab, and other
control codes are a validation error. It is checked whole as well; a character that the layout lacks
and no unused key is left for is refused by its place, and never repeated in a message. For each
character beyond ASCII 0.2 s are reckoned, as a keyboard may lack it, and at most 120 s together:
600 of them. What is more is a validation error that says how long it would take.

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
    """A character as code in a table, where two are special, to GitHub and to MkDocs alike."""
    return {"`": "`` ` ``", "|": "<code>&#124;</code>"}.get(character or "", f"`{character}`")


def test_keys_page_is_what_the_table_says() -> None:
    assert KEYS_PAGE.read_text() == keys_page()


def settings_page() -> str:
    """The page about settings."""
    texts = {name: (CONFIG / f"{name}.toml").read_text().strip() for name in ("server", "machine")}
    return SETTINGS.format(**texts)


def test_settings_page_is_what_the_files_say() -> None:
    assert SETTINGS_PAGE.read_text() == settings_page()


async def test_commands_about_a_trajectory_work_as_they_stand(mongodb: str, tmp_path: Path) -> None:
    page = (DOCS / "guide" / "trajectories.md").read_text()
    commands = page.split("```\nsend()")[1].split("```")[0]
    async with running_service(mongodb, tmp_path) as service:
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", f"send(){commands}"),
            env={**os.environ, "FARHAND_URL": service.url, "FARHAND_TOKEN": service.token},
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await shell.communicate()
    made, extended, changed, latest = map(json.loads, output.decode().splitlines())
    assert shell.returncode == 0
    assert (made["is_generated"], changed["is_generated"]) == (False, True)
    assert latest["id"] == made["id"] == extended["id"]
    operations = [step["operation"] for step in latest["trajectory_data"]]
    assert operations == ["mouse.click", "keyboard.type", "keyboard.key"]


if __name__ == "__main__":
    KEYS_PAGE.write_text(keys_page())
    SETTINGS_PAGE.write_text(settings_page())
