"""The page as it is rendered: whole, small, and with nothing of a text taken for markup."""

import json
import re
from collections import Counter
from typing import Any

from server.api.routes import ROUTES
from server.web.openapi import openapi_document
from server.web.reference.page import SERVER, reference_page

DOCUMENT = openapi_document(ROUTES, "0.0.0")
HOSTILE = "<script>alert(1)</script> \"'&"


def rendered(document: dict[str, Any]) -> str:
    page = reference_page(json.dumps(document).encode(), "0123456789abcdef")
    assert page.media_type == "text/html; charset=utf-8"
    return page.content.decode()


def test_page_is_small() -> None:
    assert len(rendered(DOCUMENT)) < 760_000


def test_every_place_is_there_once_and_every_link_within_leads_to_one() -> None:
    page = rendered(DOCUMENT)
    places = Counter(re.findall(r'\bid="([^"]+)"', page))
    assert set(places.values()) == {1}
    named = set(re.findall(r'href="#([^"]+)"', page))
    assert {"model-InputResult", "click_mouse_button"} <= named
    assert named <= set(places)


def test_what_a_reader_opens_is_an_operation_and_nothing_else() -> None:
    count = sum(map(len, DOCUMENT["paths"].values()))
    page = rendered(DOCUMENT)
    assert page.count("<details") == page.count('<details class="operation"') == count
    assert page.count(f"{SERVER}</span>") == count


def test_documentation_is_led_to_where_there_is_some() -> None:
    assert "Guide, reference and design" not in rendered(DOCUMENT)
    installed = openapi_document(ROUTES, "0.0.0", "docs/index.html")
    assert '<a href="docs/index.html">Guide, reference and design</a>' in rendered(installed)


def test_no_text_of_the_document_is_markup() -> None:
    def hostile(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: hostile(each) for name, each in part.items()}
        return HOSTILE if isinstance(part, str) and " " in part else part

    page = rendered(hostile(DOCUMENT))
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("<script") == 1
