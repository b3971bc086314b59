"""Machines that say scripts, and addresses of somebody else: all of it is text, nothing runs."""

import contextlib
from collections.abc import Iterator

from playwright.sync_api import Browser, expect

from schemas.link.messages import Capability
from tests.browser.rig import Site, Visit
from tests.links import hello

SCRIPT = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
REFUSAL = f"cannot: {SCRIPT}"


@contextlib.contextmanager
def hostile_machine(site: Site) -> Iterator[str]:
    """A machine whose name, platform, version and reason are markup; its id."""
    said = {
        "platform": SCRIPT,
        "client_version": SCRIPT[:64],
        "screen": Capability(available=False, reason=SCRIPT),
    }
    with site.scripted(SCRIPT, hello(no_input=REFUSAL).model_copy(update=said)) as machine:
        yield machine


def test_what_a_machine_says_is_shown_as_text_and_does_not_run(operator: Visit) -> None:
    page = operator.page
    with hostile_machine(operator.site) as machine:
        row = page.locator("tbody tr", has_text=SCRIPT)
        expect(row).to_contain_text("No input")
        expect(row).to_contain_text("Cannot: <img src=x onerror=")
        row.get_by_role("link").click()
        expect(page.get_by_role("heading", name=SCRIPT)).to_be_visible()
        expect(page.locator(".facts")).to_contain_text(SCRIPT)
        expect(page.locator(".lead")).to_contain_text(SCRIPT)
        assert page.url.endswith(f"#/machines/{machine}")
        assert page.locator("main img, main script").count() == 0
        expect(page).to_have_title(f"{SCRIPT} \N{EN DASH} Farhand")


def test_markup_that_a_script_should_put_in_would_be_refused(operator: Visit) -> None:
    said = operator.page.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken'; }"
        " catch (error) { return error.name; } })()"
    )
    assert said == "TypeError"
    operator.hears("TrustedHTML")


def test_script_in_the_page_and_from_elsewhere_would_not_run(visit: Visit) -> None:
    visit.go()
    page = visit.page
    expect(page.get_by_label("Token")).to_be_visible()
    page.evaluate(
        "(() => { const s = document.createElement('script');"
        " try { s.text = \"document.title = 'owned'\"; document.body.append(s); } catch {} })()"
    )
    assert "owned" not in page.title()
    visit.hears("TrustedScript")


def test_machine_that_is_not_there_is_not_found(operator: Visit) -> None:
    page = operator.page
    for address in ("nowhere", "<b>x<%2Fb>", "%FF", "a" * 200, "..%2F..%2Fhealthz"):
        operator.go(f"/machines/{address}")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        page.get_by_role("link", name="Back to the machines").click()
        expect(page.get_by_role("heading", name="Machines")).to_be_visible()


def test_machine_and_trajectory_of_another_organization_are_not_found(
    browser: Browser, site: Site
) -> None:
    machine, _ = site.add_machine("Ours")
    organization = site.api.call("POST", "/v1/organizations", {"name": "Others"}).json["id"]
    scopes = ["machines:read", "machines:write", "trajectories:read", "screen:read"]
    body = {"name": "theirs", "scopes": scopes, "organization_id": organization}
    token = site.api.call("POST", "/v1/tokens", body).json["token"]
    workflow = site.api.call("POST", "/v1/workflows", {"name": "Ours"}).json["id"]
    new = {
        "workflow_id": workflow,
        "dimensions": {"width": 10, "height": 10},
        "trajectory_data": [{"x": 1}],
    }
    trajectory = site.api.call("POST", "/v1/trajectories", new).json["id"]
    with Visit.begun(browser, site) as visit:
        visit.sign_in("/machines", token)
        page = visit.page
        expect(page.get_by_role("heading", name="No machine yet")).to_be_visible()
        for address in (f"/machines/{machine}", f"/trajectories/{trajectory}"):
            visit.go(address)
            expect(page.get_by_role("heading", name="Not found")).to_be_visible()
            expect(page.get_by_text("Ours")).to_have_count(0)


def test_page_that_does_not_exist_is_not_found(operator: Visit) -> None:
    operator.go("/nothing/here")
    expect(operator.page.get_by_role("heading", name="Not found")).to_be_visible()
