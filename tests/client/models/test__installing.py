"""A vendor's SDK that is not there."""

import subprocess
import sys

import pytest

from farhand.models._installing import needs


@pytest.mark.parametrize(
    ("vendor", "missing", "package"),
    [("anthropic", "anthropic", "anthropic"), ("gemini", "google", "google.genai")],
)
def test_message_says_what_to_install(vendor: str, missing: str, package: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import farhand.models.{vendor}"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: {package} is not installed, or too old: "
        f"pip install 'farhand-client[{vendor}]'"
    )


def test_what_else_is_missing_is_told_as_it_is() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named 'fly'"), needs("openai", "x"):
        import fly  # type: ignore[import-not-found]  # noqa: F401, PLC0415
