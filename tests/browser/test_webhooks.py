"""Webhooks in the console: made, tried, changed, and looked after, before a real receiver."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Locator, Page, expect
from standardwebhooks.webhooks import Webhook as Verifier

from tests.browser.rig import Site, Visit, served


@pytest.fixture(scope="module")
def site(mongodb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server whose webhooks may lead to this host."""
    directory = tmp_path_factory.mktemp("webhooks")
    settings = {"mongodb_uri": mongodb, "mongodb_database": directory.name}
    with served(directory, webhook_private_addresses="127.0.0.0/8", **settings) as site:
        yield site


@dataclass
class Receiver:
    """What was posted, and where to; `status` is what it answers."""

    url: str = ""
    status: int = 204
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append((headers, body))
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is written about what comes."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield receiver
        server.shutdown()
        serving.join()


def deliveries(page: Page) -> Locator:
    return page.locator(".table.deliveries tbody tr")


def in_dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def made(visit: Visit, url: str, description: str) -> str:
    """Make a webhook and go to its page; its secret."""
    page = visit.page
    visit.go("/settings/webhooks")
    page.get_by_role("button", name="New webhook").click()
    in_dialog(page).get_by_label("Address").fill(url)
    in_dialog(page).get_by_label("Description").fill(description)
    in_dialog(page).get_by_role("button", name="Make").click()
    secret = page.locator(".secret code").inner_text()
    page.get_by_role("link", name=description).click()
    expect(page.get_by_role("heading", name=description)).to_be_visible()
    expect(page.get_by_text(secret)).to_have_count(0)
    return secret


def test_test_arrives_signed_with_the_secret_that_was_shown(
    operator: Visit, receiver: Receiver
) -> None:
    page = operator.page
    secret = made(operator, receiver.url, "Signed")
    expect(page.get_by_text("Nothing was posted in the last seven days.")).to_be_visible()
    page.get_by_role("button", name="Send test", exact=True).click()
    expect(deliveries(page).first).to_contain_text("Delivered")
    expect(deliveries(page).first).to_contain_text("HTTP 204")
    headers, body = receiver.received[0]
    assert Verifier(secret).verify(body, headers)["type"] == "test"
    page.get_by_role("button", name="Send test again").click()
    expect(deliveries(page).first).to_contain_text("Delivered")
    expect(deliveries(page)).to_have_count(1)
    expect(deliveries(page).locator("[data-column=attempts]")).to_have_text("2")


def test_receiver_that_fails_is_said_with_its_answer_and_the_next_try(
    operator: Visit, receiver: Receiver
) -> None:
    page = operator.page
    receiver.status = 500
    made(operator, receiver.url, "Failing")
    page.get_by_role("button", name="Send test", exact=True).click()
    expect(deliveries(page).first).to_contain_text("500")
    expect(deliveries(page).first).to_contain_text("Waits")
    expect(deliveries(page).locator("[data-column=next]")).to_contain_text("in ")


def test_new_secret_is_shown_once_and_signs(operator: Visit, receiver: Receiver) -> None:
    page = operator.page
    first = made(operator, receiver.url, "Rotated")
    page.get_by_role("button", name="New secret").click()
    in_dialog(page).get_by_label("The one before goes").select_option("At once")
    in_dialog(page).get_by_role("button", name="Make it").click()
    second = page.locator(".secret code").inner_text()
    assert second != first
    page.get_by_role("button", name="I have it").click()
    expect(page.get_by_text(second)).to_have_count(0)
    page.get_by_role("button", name="Send test", exact=True).click()
    expect(deliveries(page).first).to_contain_text("Delivered")
    headers, body = receiver.received[0]
    assert Verifier(second).verify(body, headers)


def test_webhook_is_changed_with_pools_and_quiet_hours_and_removed(
    operator: Visit, receiver: Receiver
) -> None:
    page, site = operator.page, operator.site
    site.api.call("POST", "/v1/pools", {"name": "Quiet pool"})
    made(operator, receiver.url, "Changed")
    page.get_by_role("button", name="Change", exact=True).click()
    dialog = in_dialog(page)
    expect(dialog.get_by_label("Address")).to_have_value(receiver.url)
    dialog.get_by_label("It is back").uncheck()
    dialog.get_by_label("Quiet pool").check()
    dialog.get_by_label("Quiet from").fill("22:00")
    dialog.get_by_label("Quiet until").fill("06:00")
    dialog.get_by_label("In the time zone").fill("Europe/Nowhere")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".wrong")).to_contain_text("must be a time zone")
    expect(dialog.get_by_label("In the time zone")).to_be_focused()
    expect(dialog.get_by_label("Quiet from")).to_have_value("22:00")
    expect(dialog.get_by_label("Quiet pool")).to_be_checked()
    dialog.get_by_label("In the time zone").fill("Europe/Berlin")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("22:00 to 06:00, Europe/Berlin")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("Quiet pool")
    expect(page.locator(".facts")).not_to_contain_text("It is back")
    page.get_by_role("button", name="Remove").click()
    in_dialog(page).get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Webhooks")).to_be_visible()
    expect(page.get_by_role("link", name="Changed")).to_have_count(0)


def test_address_and_events_that_will_not_do_are_told_at_their_fields(operator: Visit) -> None:
    page = operator.page
    operator.go("/settings/webhooks")
    page.get_by_role("button", name="New webhook").click()
    dialog = in_dialog(page)
    dialog.get_by_label("Address").fill("ftp://example.com")
    for box in dialog.get_by_role("group", name="Told when").get_by_role("checkbox").all():
        box.uncheck()
    dialog.get_by_role("button", name="Make").click()
    expect(dialog.locator(".wrong")).to_have_count(2)
    expect(dialog.get_by_label("Address")).to_be_focused()
    expect(dialog.get_by_role("alert")).to_contain_text("see what is said at the fields")


def test_webhook_that_is_not_there_leads_back(operator: Visit) -> None:
    operator.go("/settings/webhooks/nothing")
    expect(operator.page.get_by_role("heading", name="Not found")).to_be_visible()
    operator.page.get_by_role("link", name="Back to the webhooks").click()
    expect(operator.page.get_by_role("heading", name="Webhooks", exact=True)).to_be_visible()
