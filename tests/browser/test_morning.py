"""The morning of somebody who looks after 50 desktops can be walked; what it takes is printed."""

from playwright.sync_api import Browser, Page

from tests.browser.morning import walk
from tests.browser.rig import Site


def test_morning_with_fifty_desktops(browser: Browser, site: Site) -> None:
    shown: list[str] = []

    def show(_: Page, name: str) -> None:
        shown.append(name)

    walk(browser, site, show)
    assert shown == ["fifty", "trouble", "paused", "pictures", "activity"]
