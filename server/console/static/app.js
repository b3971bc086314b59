/** The console's frame: who is signed in, which page is shown, and whether the server answers. */

import { activityPage } from "./activity.js";
import { place } from "./address.js";
import { call, session, statusOf, wordsOf } from "./api.js";
import { byId, fill, h, setText } from "./dom.js";
import { Events } from "./events.js";
import { giveAllBack } from "./lease.js";
import { machinePage } from "./machine.js";
import { machinesPage } from "./machines.js";
import { failure, notFound, notice, tickTimes } from "./parts.js";
import { signInPage } from "./sign_in.js";
import { trajectoriesPage } from "./trajectories.js";
import { trajectoryPage } from "./trajectory.js";

const TICK_SECONDS = 5;
const STAY_SIGNED_IN_SECONDS = 300;

/** @type {[RegExp, (page: Page) => HTMLElement, Scope][]} */
const PAGES = [
  [/^\/machines$/, machinesPage, "machines:read"],
  [/^\/machines\/([^/]+)$/, machinePage, "machines:read"],
  [/^\/trajectories$/, trajectoriesPage, "trajectories:read"],
  [/^\/trajectories\/([^/]+)$/, trajectoryPage, "trajectories:read"],
  [/^\/activity$/, activityPage, "audit:read"],
];

const main = byId("main");
const bar = byId("bar");
const events = new Events();

/** @type {Session | null} */
let me = null;
let shown = new AbortController();

function home() {
  return me && !me.scopes.includes("machines:read") ? "/trajectories" : "/machines";
}

async function start() {
  const link = /^#token=([^&]+)/.exec(location.hash);
  // At once, so that the token stays neither in the address nor in the history.
  if (link) history.replaceState(null, "", "#");
  try {
    await enter();
    if (link) notice("You were signed in already; the link was not used. Sign out to use it.");
  } catch (error) {
    if (statusOf(error) !== 401) fill(main, failure(error, start));
    else if (link) await signInWith(decodeURIComponent(link[1] ?? ""));
    else leave("");
  }
}

/** @param {string} token of a link, which may be of no use */
async function signInWith(token) {
  try {
    await signIn(token);
  } catch (error) {
    leave(wordsOf(error));
  }
}

/**
 * Sign in with a token, and go where the address says.  Throws a Problem where it is refused.
 * @param {string} token
 */
async function signIn(token, to = "") {
  await call("POST", "console/session", { body: { token } });
  if (to) history.replaceState(null, "", `#${to}`);
  await enter();
}

async function enter() {
  /** @type {Answer<Session>} */
  const { data } = await call("GET", "console/session");
  me = data;
  if (me.scopes.includes("machines:read")) events.start();
  else events.stop();
  drawBar(me);
  show(me);
}

/** All tabs have one session: see whether somebody signed in with another token meanwhile. */
async function checkWhoIsSignedIn() {
  /** @type {Answer<Session>} */
  const { data } = await call("GET", "console/session");
  /** @param {Session} session */
  const who = ({ token_name, organization_id, scopes }) => JSON.stringify([token_name, organization_id, scopes]);
  if (!me || who(data) === who(me)) return;
  await enter();
  notice(`You are ${me?.token_name} now: somebody signed in anew in this browser.`);
}

/**
 * Show the sign-in page, and come back here after it.
 * @param {string} words
 */
function leave(words) {
  const { path, query } = place();
  const back = query.size ? `${path}?${query}` : path;
  me = null;
  events.stop();
  bar.hidden = true;
  begin("Sign in", () => signInPage((token) => signIn(token, back), words));
}

async function signOut() {
  // First, as afterwards it would be nobody's to give.
  await giveAllBack();
  try {
    await call("DELETE", "console/session");
  } catch (error) {
    return notice(`You are still signed in. ${wordsOf(error)}`, "bad");
  }
  history.replaceState(null, "", "#");
  return leave("You have signed out.");
}

/** @param {Session} person */
function show(person, focus = false) {
  if (!place().path) history.replaceState(null, "", `#${home()}`);
  const { path, query } = place();
  for (const [pattern, page, scope] of PAGES) {
    const match = pattern.exec(path);
    if (!match) continue;
    const allowed = person.scopes.includes(scope);
    begin("Farhand", (signal) =>
      allowed
        ? page({ signal, events, me: person, query, id: decoded(match[1]), title })
        : missingScope(scope),
    );
    return mark(path, focus);
  }
  begin("Not found", () => notFound("page", "#/machines", "the machines"));
  return mark(path, focus);
}

function decoded(part = "") {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {Scope} scope */
function missingScope(scope) {
  const words = `Your token lacks the scope ${scope}.`;
  return failure(new Error(`${words} Sign out, and in again with a token that has it.`));
}

/** @param {string} text */
function title(text) {
  document.title = text === "Farhand" ? text : `${text} – Farhand`;
}

/**
 * End the page that was shown, and show another.
 * @param {string} name
 * @param {(signal: AbortSignal) => HTMLElement} page
 */
function begin(name, page) {
  shown.abort();
  shown = new AbortController();
  title(name);
  fill(main, page(shown.signal));
}

/** @type {(path: string, focus: boolean) => void} */
function mark(path, focus) {
  for (const link of bar.querySelectorAll("nav a")) {
    const current = path.startsWith(link.getAttribute("href")?.slice(1) ?? "");
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (focus) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

/** @type {Record<string, string>} */
const CONNECTION = {
  connecting: "Connecting…",
  live: "Live",
  lost: "No connection to the server",
  polling: "Every 5 s",
};

/** @param {Session} person */
function drawBar(person) {
  /** @type {(href: string, text: string, scope: Scope) => Child} */
  const link = (href, text, scope) =>
    person.scopes.includes(scope) && h("a", { href: `#${href}` }, text);
  fill(
    bar,
    h("a", { class: "brand", href: `#${home()}` }, "Farhand"),
    h(
      "nav",
      { "aria-label": "Pages" },
      link("/machines", "Machines", "machines:read"),
      link("/trajectories", "Trajectories", "trajectories:read"),
      link("/activity", "Activity", "audit:read"),
    ),
    person.scopes.includes("machines:read") &&
      h("span", { class: "connection", role: "status", id: "connection" }),
    h("span", { class: "who", title: `Organization ${person.organization_id}` }, person.token_name),
    h("button", { type: "button", class: "quiet", click: signOut }, "Sign out"),
  );
  bar.hidden = false;
  showConnection();
}

function showConnection() {
  const element = document.getElementById("connection");
  if (!element) return;
  element.dataset.state = events.state;
  const words = (events.state === "lost" && events.refusal) || (CONNECTION[events.state] ?? "");
  setText(element, words);
  element.title = words;
  document.body.classList.toggle("lost", events.state === "lost");
}

events.addEventListener("state", showConnection);
events.addEventListener("reset", () => {
  if (me) checkWhoIsSignedIn().catch(() => {});
});
session.addEventListener("ended", () => {
  if (me) leave("Your session has ended, or its token was revoked. Sign in to go on where you were.");
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // As an address of the console it would lead to another page.
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => me && show(me, true));
setInterval(tickTimes, TICK_SECONDS * 1000);
setInterval(() => {
  // Looking is a use too, though it sends nothing.
  if (me && !document.hidden) checkWhoIsSignedIn().catch(() => {});
}, STAY_SIGNED_IN_SECONDS * 1000);
void start();
