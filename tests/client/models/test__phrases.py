"""What a model reads of a failure."""

from pathlib import Path

import pytest

from farhand.models import _phrases


@pytest.mark.parametrize(
    ("types", "phrase"),
    [
        (["outside_picture"], _phrases.OUTSIDE),
        (["coordinates_outside_display"], _phrases.OUTSIDE),
        (["key_combination"], _phrases.NO_SUCH_KEY),
        (["text_not_typeable"], _phrases.NOT_TYPEABLE),
        (["button_unavailable"], _phrases.NOT_AVAILABLE),
        (["int_type", "outside_picture"], _phrases.OUTSIDE),
        (["what a later server says"], _phrases.UNUSABLE),
        ([], _phrases.UNUSABLE),
    ],
)
def test_refusals(types: list[str], phrase: str) -> None:
    assert _phrases.of_refusal(types) == phrase


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        ("failed", _phrases.FAILED),
        ("interrupted", _phrases.INTERRUPTED),
        ("unknown", _phrases.UNKNOWN),
        ("not_begun", _phrases.NOT_EXECUTED),
        ("what a later server says", _phrases.FAILED),
    ],
)
def test_ends(status: str, phrase: str) -> None:
    assert _phrases.of_end(status) == phrase


def test_page_has_all_of_them() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "models.md"
    shown = page.read_text().split("```text\n")[1].split("```")[0]
    phrases = [value for name, value in vars(_phrases).items() if name[0].isupper()]
    assert shown.splitlines() == [each for each in phrases if isinstance(each, str)]
