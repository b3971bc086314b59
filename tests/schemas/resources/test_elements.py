from typing import get_args

from schemas.link.element_messages import SeenElement, Truncation
from schemas.resources.elements import Element, Elements


def test_element_is_told_whole() -> None:
    # What lies over an element is for whoever looks for one at a place.
    assert {*Element.model_fields} == {*SeenElement.model_fields, "selector"} - {"covered"}


def test_every_reason_that_an_answer_is_cut_is_told() -> None:
    told, _none = get_args(Elements.model_fields["truncated"].annotation)
    assert get_args(told) == get_args(Truncation)
