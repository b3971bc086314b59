"""Coming to the console: with a token, by a link, again, and no more."""

from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, expect

from tests.browser.hands import Hands
from tests.browser.rig import Visit
from tests.commandline import run

CONSOLE = (Path(__file__).parent.parent.parent / "docs" / "guide" / "console.md").read_text()


def test_first_visit_asks_for_a_token_and_says_where_it_is(visit: Visit) -> None:
    visit.go()
    page = visit.page
    expect(page.get_by_role("heading", name="Sign in to Farhand")).to_be_visible()
    expect(page.get_by_label("Token")).to_be_focused()
    expect(page.get_by_text("the file admin-token in its data directory")).to_be_visible()
    # Which one that is, strangers need not know.
    assert str(visit.site.server.directory) not in page.content()
    assert "token=" not in page.url


def test_token_of_the_first_pages_command_has_all_that_the_console_can_use(visit: Visit) -> None:
    visit.go()
    page = visit.page
    shown = page.locator(".command code").text_content()
    assert shown is not None
    assert shown in CONSOLE.splitlines()
    with visit.site.desk("Reception") as desk:
        # In the shell of the server's host, as the page says.
        made = run(*shown.split()[1:], FARHAND_DATA_DIR=str(visit.site.server.directory / "data"))
        token = made.stdout.strip()
        visit.sign_in(f"/machines/{desk.machine}", token)
        expect(page.get_by_text("Live. The picture changes")).to_be_visible()
        expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name="Trajectories", exact=True)).to_be_visible()
        expect(page.get_by_role("link", name="Activity", exact=True)).to_be_visible()
        hands = Hands(page, desk)
        hands.take()
        expect(page.get_by_text("lacks the scope")).to_have_count(0)
        page.mouse.click(*hands.over(200, 150))
        hands.arrive("click left 200,150")


def test_token_is_asked_for_once(visit: Visit) -> None:
    visit.sign_in()
    page = visit.page
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    expect(page.get_by_text("administrator")).to_be_visible()


def test_token_stays_nowhere_in_the_browser(visit: Visit) -> None:
    visit.sign_in()
    token = visit.site.server.administrators_token()
    stored = visit.page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
    assert stored == '[{},{},""]'
    (cookie,) = visit.page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == (
        "farhand_session",
        True,
        "Strict",
    )
    assert cookie["value"] not in token


def test_wrong_token_is_told_what_to_look_for(visit: Visit) -> None:
    visit.go()
    page = visit.page
    page.get_by_label("Token").fill("fh_wrong")
    page.get_by_role("button", name="Sign in").click()
    said = page.get_by_role("alert")
    expect(said).to_contain_text("not known, has expired or was revoked")
    expect(said).to_contain_text("from fh_ to its end")


def test_token_of_a_machine_is_told_that_it_is_one(visit: Visit) -> None:
    _, token = visit.site.add_machine("Somewhere")
    visit.go()
    visit.page.get_by_label("Token").fill(token)
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("alert")).to_contain_text("the token of a machine")


def test_link_signs_in_and_leaves_neither_the_address_nor_the_history_with_the_token(
    visit: Visit,
) -> None:
    page = visit.page
    page.goto("about:blank")
    token = visit.site.server.administrators_token()
    page.goto(f"{visit.site.server.url}/console#token={quote(token)}")
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    assert page.url == f"{visit.site.console}#/machines"
    page.go_back()
    assert page.url == "about:blank"
    assert token not in visit.site.process.output


def test_link_does_not_take_over_who_is_signed_in_already(operator: Visit) -> None:
    other = operator.site.new_token("machines:read", name="somebody else")
    page = operator.page
    page.goto("about:blank")
    page.goto(f"{operator.site.console}#token={other['token']}")
    expect(page.get_by_text("You were signed in already")).to_be_visible()
    expect(page.get_by_text("administrator")).to_be_visible()
    assert other["token"] not in page.url


def test_link_with_a_wrong_token_says_so(visit: Visit) -> None:
    visit.page.goto(f"{visit.site.console}#token=fh_wrong")
    expect(visit.page.get_by_role("alert")).to_contain_text("not known or was revoked")


def test_deep_address_is_where_one_is_after_signing_in(visit: Visit) -> None:
    machine, _ = visit.site.add_machine("Reception")
    visit.sign_in(f"/machines/{machine}")
    expect(visit.page.get_by_role("heading", name="Reception")).to_be_visible()
    assert visit.page.url.endswith(f"#/machines/{machine}")


def test_signing_out_closes_the_console_also_after_going_back(operator: Visit) -> None:
    page = operator.page
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.context.cookies() == []


def test_revoked_token_ends_the_visit_by_itself_and_signing_in_goes_on_there(
    visit: Visit,
) -> None:
    machine, _ = visit.site.add_machine("Front desk")
    made = visit.site.new_token("machines:read", "machines:write")
    visit.sign_in(f"/machines/{machine}", made["token"])
    page = visit.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    answer = visit.site.api.call("DELETE", f"/v1/tokens/{made['id']}")
    assert answer.status == 204
    expect(page.get_by_text("Your session has ended, or its token was revoked")).to_be_visible()
    expect(page.get_by_role("heading", name="Front desk")).to_have_count(0)
    page.get_by_label("Token").fill(visit.site.server.administrators_token())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Front desk")).to_be_visible()


def test_token_without_a_scope_is_told_which_one_a_page_needs(visit: Visit) -> None:
    made = visit.site.new_token("trajectories:read")
    visit.sign_in("", made["token"])
    page = visit.page
    expect(page.get_by_role("heading", name="Trajectories")).to_be_visible()
    assert page.url.endswith("#/trajectories")
    expect(page.get_by_role("link", name="Machines")).to_have_count(0)
    visit.go("/machines")
    expect(page.get_by_text("Your token lacks the scope machines:read")).to_be_visible()


def test_console_works_with_the_keyboard_alone(visit: Visit) -> None:
    visit.go()
    page = visit.page
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type(visit.site.server.administrators_token())
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Machines")).to_be_visible()
    names = []
    for _ in range(7):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent"))
    pages = ["Machines", "Help", "Trajectories", "Runs", "Activity"]
    assert names == ["Skip to the content", "Farhand", *pages]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.get_by_role("link", name="Skip to the content").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def test_tab_learns_that_somebody_else_has_signed_in_beside_it(operator: Visit) -> None:
    site = operator.site
    site.add_machine("Of the first")
    organization = site.api.call("POST", "/v1/organizations", {"name": "Beside"}).json["id"]
    new = {"name": "of the second", "scopes": ["machines:read"], "organization_id": organization}
    token = site.api.call("POST", "/v1/tokens", new).json["token"]
    expect(operator.page.get_by_role("link", name="Of the first")).to_be_visible()
    tab = operator.page.context.new_page()
    tab.goto(f"{site.console}#/machines")
    tab.get_by_role("button", name="Sign out").click()
    tab.get_by_label("Token").fill(token)
    tab.get_by_role("button", name="Sign in").click()
    expect(tab.get_by_text("of the second", exact=True)).to_be_visible()
    operator.page.bring_to_front()
    first = operator.page
    expect(
        first.get_by_text("of the second", exact=True).or_(first.get_by_label("Token"))
    ).to_be_visible()
    expect(first.get_by_role("link", name="Of the first")).to_have_count(0)


def test_session_is_one_for_all_tabs_of_a_browser_and_for_no_other(
    browser: Browser, operator: Visit
) -> None:
    tab = operator.page.context.new_page()
    tab.goto(operator.site.console)
    expect(tab.get_by_role("heading", name="Machines")).to_be_visible()
    with Visit.begun(browser, operator.site) as stranger:
        stranger.go()
        expect(stranger.page.get_by_label("Token")).to_be_visible()


def test_link_with_a_token_that_is_followed_in_an_open_tab_leaves_no_token_there(
    operator: Visit,
) -> None:
    page = operator.page
    token = operator.site.new_token("machines:read", name="of the link")["token"]
    page.evaluate("token => { location.hash = `token=${token}`; }", token)
    expect(page.get_by_text("the link was not used")).to_be_visible()
    assert token not in page.url
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out.")).to_be_visible()
    page.evaluate("token => { location.hash = `token=${token}`; }", token)
    expect(page.get_by_text("of the link")).to_be_visible()
    assert token not in page.url
