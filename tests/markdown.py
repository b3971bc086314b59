"""What tests read out of pages in Markdown."""

import re


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks of code in a text, commands by default."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for named, block in found if named == language]


def headings(text: str) -> list[str]:
    """The headings of a text, in their order."""
    without_code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.*)$", without_code, re.MULTILINE)


def anchor(heading: str) -> str:
    """What leads to a heading, behind the ``#`` of a link."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def links(text: str) -> list[str]:
    """Where the links and pictures of a text lead."""
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text)
