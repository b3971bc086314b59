"""Recording from a machine's page: begun, seen by others, and stopped."""

from playwright.sync_api import expect

from tests.browser.rig import Desk, Site, Visit
from tests.processes import until


def test_recording_is_begun_counted_seen_and_stopped(visit: Visit, site: Site, desk: Desk) -> None:
    page = visit.page
    visit.sign_in(f"/machines/{desk.machine}")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.locator(".recorded")).to_have_text("Recorded by administrator")
    body = {"x": 5, "y": 5}
    assert site.api.send(desk.machine, "mouse/move", body).status == 200
    secret = page.get_by_role("button", name="Secret", exact=True)
    for on in ("true", "false"):
        secret.click()
        expect(secret).to_have_attribute("aria-pressed", on)
        (recorded,) = site.api.machine(desk.machine)["recordings"]
        assert str(recorded["secret"]).lower() == on
    button = page.get_by_role("button", name="Stop recording")
    expect(button).to_have_text("Stop recording (1)")
    button.click()
    expect(page.get_by_role("button", name="Record", exact=True)).to_be_visible()
    expect(page.locator(".recorded")).to_have_count(0)
    until(lambda: not site.api.machine(desk.machine)["recordings"], "nobody records it")
    (ended,) = site.api.call("GET", f"/v1/recordings?machine_id={desk.machine}").json["items"]
    assert (ended["steps"], ended["why_stopped"]) == (1, "asked")
