"""Renders the page about the API."""

import json
from importlib.resources import files

from tornado.template import DictLoader

from server.console.assets import MEDIA_TYPES, Asset
from server.web.reference.view import reference_of

SERVER = "https://farhand.example"
"""In place of the server's own address, which a page for everybody cannot know."""


def reference_page(description: bytes, console_version: str) -> Asset:
    """The page that tells what the OpenAPI document says.

    It takes its looks from the console's files of that version.
    """
    document = json.loads(description)
    directory = files("server.web.reference")
    names = ("page.html", "fields.html", "type.html")
    templates = DictLoader({name: directory.joinpath(name).read_text() for name in names})
    page = templates.load("page.html").generate(
        info=document["info"],
        more=document.get("externalDocs"),
        reference=reference_of(document),
        server=SERVER,
        version=console_version,
    )
    return Asset(page, MEDIA_TYPES["html"])
