"""What the bodies of PATCH have in common: they change what they name, and nothing else."""

from typing import Any


def not_given() -> Any:
    """Stands in a field that may be left out but not be null: model_fields_set says which are."""
    return None
