"""What importing the library costs: only what a program names is loaded."""

import subprocess
import sys

import pytest

import farhand


def loaded_by(program: str) -> set[str]:
    """The modules that are loaded once the program has run."""
    script = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_alone_loads_no_other_package() -> None:
    loaded = loaded_by("import farhand; farhand.OutcomeUnknown")
    assert "farhand.errors" in loaded
    assert not loaded & {"httpx", "pydantic", "asyncio", "ssl"}


def test_each_kind_of_client_loads_its_own_half() -> None:
    assert not loaded_by("from farhand import Farhand") & {
        "farhand._async",
        "farhand._async.client",
    }
    assert not loaded_by("from farhand import AsyncFarhand") & {"farhand._sync.client"}


def test_every_name_that_is_offered_is_there() -> None:
    assert set(farhand.__all__) <= set(dir(farhand))
    for name in farhand.__all__:
        assert getattr(farhand, name).__name__ == name


def test_unknown_name_is_refused_in_the_usual_words() -> None:
    with pytest.raises(AttributeError, match=r"^module 'farhand' has no attribute 'Farmhand'$"):
        getattr(farhand, "Farmhand")  # noqa: B009
