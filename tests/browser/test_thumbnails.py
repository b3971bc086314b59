"""The screens of many machines in small: of those in sight alone, seldom, and none at rest."""

from contextlib import ExitStack

from playwright.sync_api import Browser, Page, Request, Response, expect

from tests.browser.rig import TWO_PICTURES, Desk, Site, Visit, have_come, stop_the_clock
from tests.links import hello
from tests.processes import until

MOST_BYTES = 10_000
SECONDS = 10_000
"""Between two pictures of one screen, in milliseconds."""

PAINTED = """() => {
  const { width, height } = document.querySelector('.glance canvas');
  const context = document.querySelector('.glance canvas').getContext('2d');
  const { data } = context.getImageData(0, 0, width, height);
  return new Set(data).size;
}"""


LOOKED_AT = """
  window.lookedAt = [];
  const { fetch } = window;
  window.fetch = (address, ...options) => {
    if (String(address).includes('/display/screenshot')) lookedAt.push(performance.now());
    return fetch(address, ...options);
  };
"""
"""When a picture was asked for, by the page's own clock."""


def looks_of(page: Page) -> list[Request]:
    """The requests for pictures, as they are made."""
    looks: list[Request] = []
    page.on(
        "request",
        lambda request: looks.append(request) if "/display/screenshot" in request.url else None,
    )
    return looks


def answer_of(request: Request) -> Response:
    answer = request.response()
    assert answer is not None
    return answer


def answer_after(page: Page, looks: list[Request], *milliseconds: int) -> Response:
    """Put the clock of a page forward, which stands still, and have it look once more."""
    before = page.evaluate("lookedAt.length")
    for each in milliseconds:
        page.clock.fast_forward(each)
    have_come(page, looks, before + 1)
    return answer_of(looks[before])


def test_screen_is_shown_and_not_sent_again_while_it_rests(visit: Visit, desk: Desk) -> None:
    page = visit.page
    page.clock.install()
    page.add_init_script(LOOKED_AT)
    looks = looks_of(page)
    visit.sign_in("/machines?search=reception&view=pictures")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Reception"))
    expect(card.locator("canvas")).to_be_visible()
    expect(card).to_contain_text("Online")
    assert page.evaluate(PAINTED) > 3
    first = answer_of(looks[0])
    assert (first.status, 0 < len(first.body()) <= MOST_BYTES) == (200, True)
    stop_the_clock(page)
    assert answer_after(page, looks, SECONDS // 2, SECONDS // 2 + 1000).status == 304
    first_at, second_at, *_ = page.evaluate("lookedAt")
    assert second_at - first_at > SECONDS - 1000
    visit.site.api.send(
        desk.machine,
        "mouse/drag",
        {
            "start_x": 100,
            "start_y": 100,
            "to_x": 500,
            "to_y": 400,
            "duration": 0,
        },
    )
    # The window draws it a moment later.
    until(
        lambda: answer_after(page, looks, SECONDS + 1000).status == 200, "the new picture is sent"
    )
    # Back in the table nobody looks.
    page.get_by_role("button", name="Pictures").click()
    expect(page.get_by_role("table")).to_be_visible()
    looks.clear()
    page.clock.fast_forward(3 * SECONDS)
    assert looks == []


def test_only_those_in_sight_are_looked_at(browser: Browser, site: Site) -> None:
    with ExitStack() as stack:
        for number in range(30):
            stack.enter_context(site.scripted(f"Wall {number:02}", hello(no_screen=None)))
        window = {"width": 700, "height": 420}
        with Visit.begun(browser, site, viewport=window) as visit:
            page = visit.page
            problem = {"title": "Gone", "status": 503, "detail": "its screen is being changed"}
            page.route(
                "**/display/screenshot?*",
                lambda route: route.fulfill(
                    status=503, json=problem, content_type="application/problem+json"
                ),
            )
            looks = looks_of(page)
            visit.sign_in("/machines?search=wall&view=pictures&sort=name")
            cards = page.locator(".thumbnails li")
            expect(cards).to_have_count(30)
            # Why there is no picture stands in its place.
            expect(cards.first).to_contain_text("Its screen is being changed.")
            page.evaluate(TWO_PICTURES)
            assert 1 <= len({each.url for each in looks}) <= 12
            looks.clear()
            cards.last.scroll_into_view_if_needed()
            expect(cards.last).to_contain_text("Its screen is being changed.")
            page.evaluate(TWO_PICTURES)
            assert 1 <= len({each.url for each in looks}) <= 12


def test_who_may_not_see_screens_asks_for_none(visit: Visit, site: Site, desk: Desk) -> None:
    looks = looks_of(visit.page)
    token = site.new_token("machines:read")["token"]
    visit.sign_in("/machines?search=reception&view=pictures", token)
    expect(visit.page.locator(".glance")).to_contain_text("lacks the scope screen:read")
    assert looks == []
