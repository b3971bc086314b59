"""Makes the pictures of the console: each page in light, dark and phone width.

Those that a page of the documentation shows go to docs/images, all others to build/screenshots.

Run by ``make screenshots``; with names of pages behind it, those alone.
"""

import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from schemas.link.messages import Display
from server.demo.library import samples
from server.demo.tour import strokes_of
from tests.browser.morning import walk
from tests.browser.repeating import help_the_run, staying_demo
from tests.browser.rig import Desk, Site, Visit, chromium, served
from tests.browser.runs import halted_run, show_run, show_runs, show_start
from tests.links import hello
from tests.processes import ServedApi, until

PROJECT = Path(__file__).parent.parent.parent
DOCS = PROJECT / "docs"
SCREENSHOTS = PROJECT / "build" / "screenshots"

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}

VARIANTS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": {
        "viewport": PHONE,
        "color_scheme": "light",
        "device_scale_factor": 2,
        "has_touch": True,
    },
}

PLATFORM = "Linux-6.1.0-x86_64"
ONLINE = (
    *("Accounting 1", "Accounting 2", "Archive scanner", "Dispatch", "Goods in"),
    *("Payroll", "Till 1", "Till 2", "Till 4", "Warehouse north"),
)


@dataclass(frozen=True)
class Scene:
    """What the pictures show."""

    site: Site
    desk: Desk
    trajectory: str
    invitation: str
    webhook: str
    run: str
    online: int
    """How many more machines than the desk are well."""


@contextmanager
def furnished(directory: Path, online: Sequence[str] = ONLINE, **settings: str) -> Iterator[Scene]:
    """A server with machines in every state, and trajectories."""
    with ExitStack() as stack:
        site = stack.enter_context(served(directory, **settings))
        fill_fleet(stack, site, online)
        desk = stack.enter_context(site.desk("Reception", "reception"))
        work_on(site, desk)
        ask_for_help(site, desk)
        trajectory = fill_library(site, desk)
        filled = fill_settings(site)
        run = halted_run(site, desk.machine, 0)
        yield Scene(site, desk, trajectory, *filled, run, len(online))


def fill_fleet(stack: ExitStack, site: Site, online: Sequence[str]) -> None:
    """Machines that are well, which are called so, and some that are not."""

    def connected(name: str, **options: Any) -> str:
        said = {
            "platform": PLATFORM,
            "client_version": "0.1.0",
            "displays": [Display(x=0, y=0, width=1920, height=1080)],
        }
        greeting = hello(**options).model_copy(update=said)
        return stack.enter_context(site.scripted(name, greeting))

    for name in online:
        connected(name)
    connected("Customs terminal", no_input="the display :0 refuses connections: is it locked?")
    paused = connected("Till 3")
    site.api.call("PATCH", f"/v1/machines/{paused}", {"paused": True})
    site.add_machine("Meeting room")
    label(site, "Berlin", "till", "till", "floor-2")
    label(site, "Oslo", "warehouse", "warehouse")
    with site.scripted("Warehouse south", hello()) as machine:
        wait_for_state(site, machine, "online")
    wait_for_state(site, machine, "offline")


def label(site: Site, pool: str, search: str, *tags: str) -> None:
    """Put machines that are called so into a pool of their own, and give them tags."""
    pool_id = site.api.call("POST", "/v1/pools", {"name": pool}).json["id"]
    found = {"filter": {"search": search}}
    for change in (
        {"action": "add_to_pool", "pool_id": pool_id},
        {"action": "tag", "tags": [*tags]},
    ):
        answer = site.api.call("POST", "/v1/machines/bulk", {**found, **change})
        assert answer.json["failed"] == 0, answer.body


def wait_for_state(site: Site, machine: str, state: str) -> None:
    """Wait until the server says that the machine is in a state."""
    until(lambda: site.api.is_in_state(machine, state), f"{machine} is {state}")


def work_on(site: Site, desk: Desk) -> None:
    """Inputs as programs send them, so that the screen and the list of commands show some."""

    def send(operation: str, status: int = 200, **body: Any) -> None:
        answer = site.api.send(desk.machine, operation, body)
        assert answer.status == status, answer.body

    written = site.api.act(desk.machine, [*strokes_of("HELLO")], "written-for-the-pictures")
    assert written.status == 200, written.body
    send("keyboard/type", text="Order 4711")
    send("mouse/click", x=640, y=620, clicks=2)
    send("mouse/click", 422, x=5000, y=620)
    send("keyboard/key", text="ctrl+s")


def ask_for_help(site: Site, desk: Desk) -> None:
    """What two programs want of people."""
    for name, machine, kind, reason in (
        (
            "Nightly import",
            desk.machine,
            "help",
            "The scanner asks for paper. Put some in, please.",
        ),
        ("Invoices", desk.machine, "approval", "Send 40 invoices, 12,480.00 in all?"),
    ):
        asker = site.new_token("input:send", "machines:read", name=name)["token"]
        with closing(ServedApi(site.server.url, asker)) as api:
            answer = api.call(
                "POST", "/v1/help", {"machine_id": machine, "kind": kind, "reason": reason}
            )
            assert answer.status == 201, answer.body


def fill_library(site: Site, desk: Desk) -> str:
    """Sample trajectories, one of them with a picture of the desk; that one's id."""
    new = {"name": "Enter an invoice", "description": "From the scanned page to the ledger."}
    schema = {"invoice_number": {"max_length": 20}, "supplier": {"example": "Lindqvist Paper"}}
    made = site.api.call("POST", "/v1/workflows", {**new, "input_schema": schema})
    workflow = made.json["id"]
    for sample in samples():
        site.api.call("POST", "/v1/trajectories", {**sample, "workflow_id": workflow})
    shot = site.api.call("GET", f"/v1/computer/{desk.machine}/display/screenshot?format=jpeg")
    sent = site.api.call("POST", "/v1/pictures", shot.body, {"Content-Type": "image/jpeg"})
    picture = sent.json["id"]
    steps = [
        {
            "operation": "mouse.click",
            "after_ms": 420,
            "body": {"x": 450, "y": 290},
            "target": {"box": {"x": 390, "y": 270, "width": 120, "height": 40}},
        },
        {
            "operation": "mouse.drag",
            "after_ms": 380,
            "body": {"start_x": 273, "start_y": 270, "to_x": 546, "to_y": 490, "duration": 0.4},
        },
        {"operation": "keyboard.type", "after_ms": 250, "body": {"text": "Order 4711"}},
        {"operation": "mouse.click", "after_ms": 610, "body": {"x": 900, "y": 90, "clicks": 2}},
    ]
    answer = site.api.call(
        "POST",
        "/v1/trajectories",
        {
            "workflow_id": workflow,
            "name": "Recorded at the reception",
            "description": "With a picture of the screen at each step.",
            "dimensions": {"width": 1280, "height": 800},
            "original_input_values": {"invoice_number": "R-10540", "supplier": "Lindqvist Paper"},
            "trajectory_data": [
                {**step, "picture": picture, "picture_after": picture} for step in steps
            ],
        },
    )
    return str(answer.json["id"])


def fill_settings(site: Site) -> tuple[str, str]:
    """All that the settings list; the ids of an invitation and of a webhook."""

    def make(what: str, **body: Any) -> dict[str, Any]:
        answer = site.api.call("POST", f"/v1/{what}", body)
        assert answer.status in (200, 201), answer.body
        made: dict[str, Any] = answer.json
        return made

    pools = site.api.call("GET", "/v1/pools").json["items"]
    [berlin] = [each["id"] for each in pools if each["name"] == "Berlin"]
    described = {"description": "Second floor", "offline_after": 60}
    site.api.call("PATCH", f"/v1/pools/{berlin}", described)
    make("pools", name="Hamburg")
    make("tokens", name="Anna", role="operator")
    make("tokens", name="nightly-import", scopes=["trajectories:write"], pool_ids=[berlin])
    make("organizations", name="Lindqvist Paper")
    invitation = site.invite(
        name="Berlin, second floor", uses=50, approval=True, tags=["till"], pool_ids=[berlin]
    )
    site.comes(invitation["code"], "till-5")
    site.comes(invitation["code"], "till-6")
    joins = f"/v1/invitations/{invitation['id']}/joins"
    first = site.api.call("GET", joins).json["items"][-1]["id"]
    site.api.call("PATCH", f"{joins}/{first}", {"approved": True})
    webhook = make(
        "webhooks",
        url="https://pager.invalid/farhand",
        events=["machine_offline", "machine_online"],
        description="The pager at night",
    )
    site.api.call("POST", f"/v1/webhooks/{webhook['id']}/test")
    site.api.call("DELETE", "/v1/machines/till-5")
    return invitation["id"], webhook["id"]


def show_machines(visit: Visit, scene: Scene) -> None:
    """The table, with everything in it."""
    visit.sign_in("/machines")
    expect(visit.page.locator("tbody tr")).to_have_count(scene.online + 5)


def show_chosen(visit: Visit, scene: Scene) -> None:
    """The table, with two machines chosen and what can be done with them."""
    show_machines(visit, scene)
    for name in ("Till 1", "Till 2"):
        visit.page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()
    expect(visit.page.get_by_text("2 machines chosen")).to_be_visible()


def show_pictures(visit: Visit, scene: Scene) -> None:
    """The screens of the same machines in small."""
    visit.sign_in("/machines?view=pictures&sort=-name")
    card = visit.page.get_by_role("listitem").filter(has_text="Reception")
    card.scroll_into_view_if_needed()
    expect(card.locator("canvas")).to_be_visible()


def show_machine(visit: Visit, scene: Scene) -> None:
    """The live screen, and what was done."""
    visit.sign_in(f"/machines/{scene.desk.machine}")
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()


def show_control(visit: Visit, scene: Scene) -> None:
    """The same with hands on it."""
    show_machine(visit, scene)
    api, machine = scene.site.api, scene.desk.machine
    until(lambda: api.machine(machine)["control"] is None, "the one before has left")
    visit.page.get_by_role("button", name="Take control").click()
    expect(visit.page.get_by_text("You are in control")).to_be_visible()


def show_trajectories(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/trajectories")
    expect(visit.page.get_by_text("6 trajectories", exact=True)).to_be_visible()


def show_workflows(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/trajectories/workflows")
    expect(visit.page.get_by_text("invoice_number, supplier")).to_be_visible()


def show_trajectory(visit: Visit, scene: Scene) -> None:
    """The second step of one, on its picture."""
    visit.sign_in(f"/trajectories/{scene.trajectory}")
    visit.page.get_by_role("button", name="Next").click()
    expect(visit.page.locator(".viewer canvas")).to_be_visible()
    expect(visit.page.get_by_text("Step 2 of 4")).to_be_visible()


def show_review(visit: Visit, scene: Scene) -> None:
    """The first step of the same, and the question before it is approved."""
    visit.sign_in(f"/trajectories/{scene.trajectory}")
    expect(visit.page.locator(".viewer canvas")).to_be_visible()
    visit.page.keyboard.press("a")
    visit.page.keyboard.type("As it should be.")


def show_editing(visit: Visit, scene: Scene) -> None:
    """The third step of the same, and the form that makes a parameter of its text."""
    visit.sign_in(f"/trajectories/{scene.trajectory}?step=3")
    expect(visit.page.locator(".viewer canvas")).to_be_visible()
    visit.page.keyboard.press("m")
    dialog = visit.page.get_by_role("dialog")
    dialog.get_by_label("Text in this step").fill("4711")
    dialog.get_by_label("Name", exact=True).fill("order")
    dialog.get_by_label("Type").select_option("integer")


def show_help(visit: Visit, _: Scene) -> None:
    """What programs ask."""
    visit.sign_in("/help")
    cards = visit.page.get_by_role("list", name="Help requests").get_by_role("listitem")
    # On a phone the last one is not in sight at first, and has no picture until it is.
    cards.last.scroll_into_view_if_needed()
    expect(cards.locator("canvas:not([hidden])")).to_have_count(3)
    cards.first.scroll_into_view_if_needed()


def show_activity(visit: Visit, scene: Scene) -> None:
    """Who did what on the desk."""
    visit.sign_in(f"/activity?machine_id={scene.desk.machine}")
    expect(visit.page.locator(".table.activity tbody tr").nth(4)).to_be_attached()


def show_add_machines(visit: Visit, _: Scene) -> None:
    """The form for a code, and the codes that are good."""
    visit.sign_in("/settings/machines")
    expect(visit.page.get_by_role("link", name="Berlin, second floor")).to_be_visible()
    expect(visit.page.get_by_role("group", name="Pools that they are put in")).to_be_visible()


def show_invitation(visit: Visit, scene: Scene) -> None:
    """What came in by a code."""
    visit.sign_in(f"/settings/machines/{scene.invitation}")
    expect(visit.page.get_by_role("button", name="Let till-6 in")).to_be_visible()


def show_code(visit: Visit, scene: Scene) -> None:
    """A code that was made just now."""
    show_add_machines(visit, scene)
    visit.page.get_by_role("button", name="Make the code").click()
    expect(visit.page.get_by_text("farhand-machine join --server")).to_be_visible()
    expect(visit.page.get_by_text("None yet. It appears here by itself.")).to_be_visible()


def show_pools(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/settings/pools")
    expect(visit.page.get_by_text("Hamburg")).to_be_visible()


def show_tokens(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/settings/tokens")
    expect(visit.page.get_by_role("button", name="Revoke Anna")).to_be_visible()


def show_sessions(visit: Visit, _: Scene) -> None:
    """The list, with the own one."""
    visit.sign_in("/settings/sessions")
    expect(visit.page.get_by_text("yours, here")).to_be_visible()


def show_new_token(visit: Visit, scene: Scene) -> None:
    """The form for one, with each scope."""
    show_tokens(visit, scene)
    visit.page.get_by_role("button", name="New token").click()
    visit.page.get_by_label("May", exact=True).select_option("What I choose")
    expect(visit.page.get_by_label("audit:read")).to_be_visible()


def show_webhooks(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/settings/webhooks")
    expect(visit.page.get_by_role("link", name="The pager at night")).to_be_visible()


def show_webhook(visit: Visit, _: Scene) -> None:
    """What was posted to one."""
    show_webhooks(visit, _)
    visit.page.get_by_role("link", name="The pager at night").click()
    expect(visit.page.get_by_role("button", name="Send test again")).to_be_visible()


def show_organizations(visit: Visit, _: Scene) -> None:
    """The list."""
    visit.sign_in("/settings/organizations")
    expect(visit.page.get_by_text("Lindqvist Paper")).to_be_visible()


def show_parts(visit: Visit, _: Scene) -> None:
    """What all pages are made of."""
    visit.sign_in("/parts")
    expect(visit.page.get_by_role("heading", name="Parts")).to_be_visible()


def show_sign_in(visit: Visit, _: Scene) -> None:
    """What a stranger sees."""
    visit.go()
    expect(visit.page.get_by_label("Token")).to_be_focused()


PAGES: dict[str, Callable[[Visit, Scene], None]] = {
    "sign-in": show_sign_in,
    "machines": show_machines,
    "chosen": show_chosen,
    "pictures": show_pictures,
    "machine": show_machine,
    "control": show_control,
    "trajectories": show_trajectories,
    "workflows": show_workflows,
    "trajectory": show_trajectory,
    "review": show_review,
    "editing": show_editing,
    "runs": lambda visit, _: show_runs(visit),
    "run": lambda visit, scene: show_run(visit, scene.run),
    "start-run": lambda visit, scene: show_start(visit, scene.run),
    "help": show_help,
    "activity": show_activity,
    "add-machines": show_add_machines,
    "invitation": show_invitation,
    "code": show_code,
    "pools": show_pools,
    "tokens": show_tokens,
    "new-token": show_new_token,
    "sessions": show_sessions,
    "webhooks": show_webhooks,
    "webhook": show_webhook,
    "organizations": show_organizations,
    "parts": show_parts,
}


SHOW_ANOTHER_PLATFORM = """([shown, instead]) => {
  const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (all.nextNode()) {
    if (all.currentNode.data === shown) all.currentNode.data = instead;
  }
}"""


def place_of(file: str) -> Path:
    """Where a picture belongs: beside the pages if one of them shows it."""
    pages = (page.read_text() for page in DOCS.rglob("*.md"))
    is_shown = any(f"images/{file})" in page for page in pages)
    return (DOCS / "images" if is_shown else SCREENSHOTS) / file


def picture(page: Page, name: str) -> None:
    """Write what a page shows, but for the platform of whoever takes the pictures."""
    page.evaluate(SHOW_ANOTHER_PLATFORM, [platform.platform(), PLATFORM])
    file = place_of(f"console-{name}.png")
    file.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=file, animations="disabled")
    print(f"{file.relative_to(Path.cwd())}  {file.stat().st_size / 1024:.0f} KB")


def take_pictures(browser: Browser, scene: Scene, pages: list[str]) -> None:
    """Each page in each variant."""
    for name in pages:
        for variant, options in VARIANTS.items():
            with Visit.begun(browser, scene.site, **options) as visit:
                PAGES[name](visit, scene)
                picture(visit.page, f"{name}-{variant}")
                # Which gives control back.
                visit.page.close()


def take_pictures_of_nothing(browser: Browser, directory: Path) -> None:
    """The first page of a server on which there is nothing yet."""
    with served(directory) as site:
        for variant, options in VARIANTS.items():
            with Visit.begun(browser, site, **options) as visit:
                visit.sign_in()
                expect(visit.page.get_by_role("heading", name="No machine yet")).to_be_visible()
                picture(visit.page, f"empty-{variant}")


def take_pictures_of_a_morning(browser: Browser, directory: Path) -> None:
    """What somebody sees who looks after 50 machines, on a server that has just these."""
    with served(directory) as site:
        walk(browser, site, lambda page, name: picture(page, f"morning-{name}"))


def take_pictures_of_a_run(browser: Browser, directory: Path) -> None:
    """The run of the demo, from its halt to what is proposed."""
    directory.mkdir()
    with staying_demo(directory) as (demo, link):
        page = browser.new_page(**VARIANTS["light"])
        page.goto(link)
        help_the_run(page, demo, lambda page, name: picture(page, f"repeat-{name}"))
        page.close()


ON_THEIR_OWN = {
    "empty": take_pictures_of_nothing,
    "morning": take_pictures_of_a_morning,
    "repeat": take_pictures_of_a_run,
}
"""Those that need a server of their own."""


def main() -> None:
    """Take the pictures of the pages that are named, or of all."""
    wanted = sys.argv[1:] or [*PAGES, *ON_THEIR_OWN]
    if unknown := set(wanted) - {*PAGES, *ON_THEIR_OWN}:
        sys.exit(f"there are no such pages: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as directory, chromium() as browser:
        for name in wanted:
            if take := ON_THEIR_OWN.get(name):
                take(browser, Path(directory) / name)
        if pages := [name for name in wanted if name in PAGES]:
            with furnished(Path(directory) / "furnished") as scene:
                take_pictures(browser, scene, pages)


if __name__ == "__main__":
    main()
