"""Control of a machine from its page: taken, kept, given back, and lost to somebody else."""

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.hands import Hands, Wire
from tests.browser.rig import Desk, Site, Visit, stop_the_clock
from tests.processes import ServedApi, until

ROBOT = "the nightly robot"


@pytest.fixture
def looking(visit: Visit, desk: Desk) -> Visit:
    """Somebody who sees the machine's live screen, and whose clock can be put forward."""
    visit.page.clock.install()
    visit.sign_in(f"/machines/{desk.machine}")
    expect(visit.page.get_by_text("Live. The picture changes")).to_be_visible()
    return visit


@pytest.fixture(scope="module")
def robot(site: Site) -> Iterator[ServedApi]:
    """A program that may do the same."""
    made = site.new_token("machines:control", "input:send", "machines:read", name=ROBOT)
    api = ServedApi(site.server.url, made["token"])
    yield api
    api.close()


def control_of(desk: Desk) -> str:
    return f"/v1/machines/{desk.machine}/control"


def holder(site: Site, desk: Desk) -> Any:
    """Who has control, as the server tells everybody."""
    return (site.api.machine(desk.machine)["control"] or {}).get("by")


def actions(site: Site) -> list[str]:
    """What was done about control, the latest first."""
    entries = site.api.call("GET", "/v1/audit?action=control").json["items"]
    done = [entry["action"] for entry in entries]
    return [action for action in done if action != "control.worked"]


def sign(page: Page) -> Any:
    return expect(page.locator(".sign"))


def take_over_and_give_back(site: Site, page: Page, desk: Desk) -> None:
    """As soon as the page's clock and its requests go on as everybody's."""
    page.unroute_all()
    page.clock.resume()
    page.get_by_role("button", name="Take control").click()
    page.get_by_role("button", name="Take over").click()
    page.get_by_role("button", name="Give back").click()
    until(lambda: holder(site, desk) is None, "control is given back")


def all_held_up(page: Page, pattern: str, method: str) -> Callable[[], None]:
    """Hold requests up until what this returns is called."""
    go_on = threading.Event()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if go_on.is_set() or route.request.method != method:
            route.continue_()
        else:
            waiting.append(route)

    def release() -> None:
        go_on.set()
        for route in waiting:
            route.continue_()

    page.route(pattern, hold)
    return release


def test_whoever_has_control_is_asked_to_hand_over(
    looking: Visit, desk: Desk, robot: ServedApi
) -> None:
    page = looking.page
    taken = robot.call("POST", control_of(desk), {})
    assert taken.status == 201, taken.body
    with page.expect_response("**/control/request") as asked:
        page.get_by_role("button", name="Ask to hand over").click()
    assert asked.value.status == 204
    expect(page.get_by_text(f"{ROBOT} was asked to hand over.")).to_be_visible()
    assert actions(looking.site)[0] == "control.requested"
    gone = robot.call("DELETE", f"{control_of(desk)}/{taken.json['id']}")
    assert gone.status == 204
    expect(page.get_by_text("was asked to hand over")).not_to_be_visible()
    Hands(page, desk).take()
    note = {"note": "the nightly run waits"}
    assert robot.call("POST", f"{control_of(desk)}/request", note).status == 204
    words = f"{ROBOT} asks you to hand over: the nightly run waits"
    expect(page.get_by_text(words)).to_be_visible()
    page.get_by_role("button", name="Give back").click()
    until(lambda: holder(looking.site, desk) is None, "control is given back")
    expect(page.get_by_text(words)).not_to_be_visible()


def test_private_control_is_ones_own_to_see(looking: Visit, desk: Desk, robot: ServedApi) -> None:
    page, site = looking.page, looking.site
    live = expect(page.get_by_text("Live. The picture changes"))
    lease = robot.call("POST", control_of(desk), {"private": True}).json["id"]
    words = f"{ROBOT.capitalize()} has private control of the machine: nobody else sees"
    expect(page.locator(".veil")).to_contain_text(words)
    expect(page.locator(".holder")).to_contain_text(f"{ROBOT} has private control, taken")
    assert robot.call("PATCH", f"{control_of(desk)}/{lease}", {"private": False}).status == 200
    live.to_be_visible()
    assert robot.call("DELETE", f"{control_of(desk)}/{lease}").status == 204
    private = page.get_by_label("Private", exact=True)
    private.check()
    Hands(page, desk).take()
    sign(page).to_contain_text("and nobody else sees it")
    live.to_be_visible()
    screenshot = f"/v1/computer/{desk.machine}/display/screenshot"
    refused = site.api.call("GET", screenshot)
    assert (refused.status, refused.json["reason"]) == (503, "private")
    private.click()
    expect(private).not_to_be_checked()
    assert site.api.call("GET", screenshot).status == 200
    page.get_by_role("button", name="Give back").click()
    until(lambda: holder(site, desk) is None, "control is given back")
    all_done = [f"control.{each}" for each in ("ended", "made_open", "made_private", "taken")]
    until(lambda: actions(site)[:4] == all_done, "all is in the audit")


def test_private_control_can_be_taken_over(looking: Visit, desk: Desk, robot: ServedApi) -> None:
    page, site = looking.page, looking.site
    assert robot.call("POST", control_of(desk), {"private": True}).status == 201
    expect(page.locator(".veil")).to_be_visible()
    page.get_by_role("button", name="Take control").click()
    sign(page).to_contain_text(f"Take over to end what {ROBOT} does")
    # Not only once the page has looked at the machine again.
    assert page.get_by_role("button", name="Take over").is_visible()
    page.get_by_role("button", name="Take over").click()
    sign(page).to_contain_text("You are in control of Reception")
    page.get_by_role("button", name="Give back").click()
    until(lambda: holder(site, desk) is None, "control is given back")


def test_asking_that_failed_may_be_done_again(looking: Visit, desk: Desk, robot: ServedApi) -> None:
    page = looking.page
    taken = robot.call("POST", control_of(desk), {}).json
    page.route("**/control/request", lambda route: route.abort(), times=1)
    ask = page.get_by_role("button", name="Ask to hand over")
    ask.click()
    expect(page.locator(".asking")).to_contain_text("The server does not answer")
    ask.click()
    expect(page.get_by_text(f"{ROBOT} was asked to hand over.")).to_be_visible()
    assert robot.call("DELETE", f"{control_of(desk)}/{taken['id']}").status == 204


def test_hands_go_on_the_picture_with_a_lease_that_is_renewed(looking: Visit, desk: Desk) -> None:
    site, page, hands = looking.site, looking.page, Hands(looking.page, desk)
    wire = Wire(page)
    page.reload()
    expect(page.get_by_text("Live. The picture changes")).to_be_visible()
    release = all_held_up(page, "**/control", "POST")
    page.get_by_role("button", name="Take control").click()
    busy = page.get_by_role("button", name="Taking control")
    expect(busy).to_be_disabled()
    page.mouse.click(*hands.over(100, 100))
    with page.expect_response("**/control") as taken:
        release()
    lease = taken.value.json()["id"]
    sign(page).to_contain_text("You are in control of Reception")
    page.mouse.click(*hands.over(200, 150))
    hands.arrive("click left 200,150")
    assert [url.partition("/control/")[2] for url in wire.urls] == [f"{lease}/hand"]
    assert site.api.send(desk.machine, "mouse/click", {"x": 9, "y": 9}).json["by"] == (
        "administrator"
    )
    expect(page.locator(".holder")).to_be_hidden()
    # Programs are paused, and the person goes on.
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator(".lead")).to_contain_text("Paused")
    # An event may tell that before the question goes, which lies over the picture.
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.mouse.click(*hands.over(300, 150))
    hands.arrive("click left 200,150", "click left 300,150")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".lead")).to_contain_text("Online")
    with page.expect_response(f"**/control/{lease}") as renewed:
        page.clock.fast_forward(10_000)
    assert (renewed.value.request.method, renewed.value.status) == ("PUT", 200)
    sign(page).to_contain_text("You are in control of Reception")
    # The last input is not cut short by leaving.
    wire.is_held = True
    page.mouse.click(*hands.over(400, 150), button="right")
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_role("button", name="Take control")).to_be_focused()
    assert holder(site, desk) == "administrator"
    wire.release()
    hands.arrive("click left 200,150", "click left 300,150", "click right 400,150")
    hands.until(lambda: holder(site, desk) is None, "control is given back")
    sign(page).to_have_text("")


def test_control_is_given_back_however_one_leaves(looking: Visit, desk: Desk) -> None:
    site, page, hands = looking.site, looking.page, Hands(looking.page, desk)
    ways: list[Callable[[], object]] = [
        lambda: page.get_by_role("link", name="Machines", exact=True).click(),
        lambda: page.get_by_role("button", name="Sign out").click(),
        lambda: page.goto("about:blank"),
        page.close,
    ]
    for number, leave in enumerate(ways, 1):
        if number > 1:
            page.goto("about:blank")
            looking.go(f"/machines/{desk.machine}")
        if number == 3:
            looking.sign_in(f"/machines/{desk.machine}")
        hands.take()
        leave()
        if number == 2:
            expect(page.get_by_text("You have signed out.")).to_be_visible()
        until(lambda: holder(site, desk) is None, f"control is given back, {number}")
    # Neither ran out, nor ended with its session.
    expected = ["control.ended", "control.taken"] * len(ways)
    until(lambda: actions(site)[: len(expected)] == expected, "all is in the audit")


def test_somebody_elses_control_is_said_and_taken_over_and_lost_to_them_again(
    looking: Visit, desk: Desk, robot: ServedApi
) -> None:
    page, hands, path = looking.page, Hands(looking.page, desk), control_of(desk)
    wire = Wire(page)
    page.reload()
    lease = robot.call("POST", path).json["id"]
    held = page.locator(".holder")
    expect(held).to_contain_text(f"{ROBOT} has control, taken ")
    assert held.locator("time").get_attribute("title")
    page.get_by_role("button", name="Take control").click()
    sign(page).to_have_text(f"Take over to end what {ROBOT} does, and to work yourself.")
    page.get_by_role("button", name="Take over").click()
    sign(page).to_contain_text("You are in control of Reception")
    expect(held).to_be_hidden()
    expect(page.get_by_role("button", name="Take over")).to_be_hidden()
    assert robot.call("PUT", f"{path}/{lease}").status == 409
    stop_the_clock(page)  # Nothing is renewed: an event alone can tell that control has ended.
    wire.is_held = True
    page.mouse.click(*hands.over(400, 300), button="right")
    page.keyboard.press("ArrowDown")
    page.mouse.click(*hands.over(400, 320), button="right")
    lease = robot.call("POST", path, {"take_over": True}).json["id"]
    sign(page).to_have_text(f"Control has ended: {ROBOT} took it over.")
    expect(page.locator(".lost")).to_contain_text(
        re.compile(
            r"^It is not known whether this was carried out: "
            r"right click at \(\d+, \d+\), right click at \(\d+, \d+\), 1 key\."
        )
    )
    expect(held).to_contain_text(ROBOT)
    page.clock.resume()
    page.keyboard.type("abc ")
    looking.go("/machines")
    row = page.get_by_role("row").filter(has_text="Reception")
    expect(row).to_contain_text(f"{ROBOT} has control, taken ")
    assert robot.call("DELETE", f"{path}/{lease}").status == 204
    expect(row).not_to_contain_text(ROBOT)
    assert hands.new() == []


def test_control_that_ended_is_found_out_by_the_hand_or_a_renewal_alone(
    looking: Visit, desk: Desk, robot: ServedApi
) -> None:
    page, hands, path = looking.page, Hands(looking.page, desk), control_of(desk)
    # No event says it.
    page.route("**/v1/events*", lambda route: route.abort())
    page.reload()
    expect(page.get_by_text("Live. The picture changes")).to_be_visible()
    hands.take()
    stop_the_clock(page)
    lease = robot.call("POST", path, {"take_over": True}).json["id"]
    page.mouse.click(*hands.over(400, 300), button="right")
    sign(page).to_have_text(f"Control has ended: {ROBOT} took it over.")
    # Where the click came before the server's word, it is named.
    named = r"(Control has ended\.)? ?(.*: right click at \(\d+, \d+\)\..*)?"
    assert re.fullmatch(named, hands.said()), hands.said()
    robot.call("DELETE", f"{path}/{lease}")
    page.clock.resume()
    page.reload()
    expect(page.get_by_text("Live. The picture changes")).to_be_visible()
    hands.take()
    # The page asks who has control when nobody has it any more.
    release = all_held_up(page, "**/v1/machines/*", "GET")
    lease = robot.call("POST", path, {"take_over": True}).json["id"]
    robot.call("DELETE", f"{path}/{lease}")
    release()
    page.clock.fast_forward(10_000)
    sign(page).to_have_text("Control has ended: somebody took it over.")
    assert hands.new() == []


def test_control_that_cannot_be_renewed_ends_on_the_page_as_well(
    looking: Visit, desk: Desk
) -> None:
    site, page, hands = looking.site, looking.page, Hands(looking.page, desk)
    stop_the_clock(page)
    page.route("**/control/*", lambda route: route.abort())
    hands.take()
    page.clock.fast_forward(20_000)
    sign(page).to_contain_text("You are in control of Reception")
    page.clock.fast_forward(10_000)
    sign(page).to_contain_text(
        "Control has ended: it ran out, as it was not renewed for 30 seconds."
    )
    page.mouse.click(*hands.over(400, 300), button="right")
    page.unroute_all()
    page.clock.resume()
    # The server's own time was not put forward.
    page.get_by_role("button", name="Take control").click()
    page.get_by_role("button", name="Take over").click()
    sign(page).to_contain_text("You are in control of Reception")
    page.get_by_role("button", name="Give back").click()
    until(lambda: holder(site, desk) is None, "control is given back")
    assert hands.new() == []


def test_renewed_control_counts_from_when_that_was_asked(looking: Visit, desk: Desk) -> None:
    """The server may have renewed it any time since then."""
    site, page, hands = looking.site, looking.page, Hands(looking.page, desk)
    stop_the_clock(page)
    release = all_held_up(page, "**/control/*", "PUT")
    hands.take()
    with page.expect_request("**/control/*"):
        page.clock.run_for(10_000)
    page.clock.run_for(5_000)
    with page.expect_response("**/control/*") as renewed:
        release()
    renewed.value.finished()
    page.route("**/control/*", lambda route: route.abort())
    page.clock.run_for(22_000)
    sign(page).to_contain_text("You are in control of Reception")
    page.clock.run_for(3_000)
    sign(page).to_contain_text("Control has ended: it ran out")
    take_over_and_give_back(site, page, desk)


def test_control_counts_from_when_it_was_asked_for(looking: Visit, desk: Desk) -> None:
    """The server may have given it any time since then."""
    site, page = looking.site, looking.page
    stop_the_clock(page)
    release = all_held_up(page, "**/control", "POST")
    with page.expect_request("**/control"):
        page.get_by_role("button", name="Take control").click()
    page.clock.run_for(5_000)
    page.route("**/control/*", lambda route: route.abort())
    with page.expect_response("**/control"):
        release()
    sign(page).to_contain_text("You are in control of Reception")
    page.clock.run_for(22_000)
    sign(page).to_contain_text("You are in control of Reception")
    page.clock.run_for(3_000)
    sign(page).to_contain_text("Control has ended: it ran out")
    take_over_and_give_back(site, page, desk)


def test_refusal_is_said_beside_the_button(looking: Visit) -> None:
    page = looking.page
    refusals: list[tuple[int, dict[str, str], str]] = [
        (503, {"detail": "nobody has control"}, "Nobody has control."),
        (403, {"scope": "machines:control"}, "Your token lacks the scope machines:control."),
    ]
    for status, problem, said in refusals:
        answer = partial(Route.fulfill, status=status, json=problem)
        page.route("**/control", answer, times=1)
        page.get_by_role("button", name="Take control").click()
        sign(page).to_contain_text(said)
        expect(page.get_by_role("button", name="Take control")).to_be_focused()
