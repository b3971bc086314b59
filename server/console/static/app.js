/** The console's frame: who is signed in, which page is shown, and whether the server answers. */

import { ActivityPage } from "./pages/activity.js";
import { HelpPage } from "./pages/help.js";
import { MachinePage } from "./pages/machine.js";
import { MachinesPage } from "./pages/machines.js";
import { PartsPage } from "./pages/parts.js";
import { RunPage } from "./pages/run.js";
import { RunsPage } from "./pages/runs.js";
import { AddMachinesPage } from "./pages/settings/add_machines.js";
import { firstSetting } from "./pages/settings/frame.js";
import { OneInvitation } from "./pages/settings/invitation.js";
import { OrganizationsPage } from "./pages/settings/organizations.js";
import { PoolsPage } from "./pages/settings/pools.js";
import { SessionsPage } from "./pages/settings/sessions.js";
import { TokensPage } from "./pages/settings/tokens.js";
import { WebhookPage } from "./pages/settings/webhook.js";
import { WebhooksPage } from "./pages/settings/webhooks.js";
import { SignIn } from "./pages/sign_in.js";
import { TrajectoriesPage } from "./pages/trajectories.js";
import { TrajectoryPage } from "./pages/trajectory.js";
import { WorkflowsPage } from "./pages/workflows.js";
import { giveAllBack } from "./control/lease.js";
import { notifier } from "./fleet/notifier.js";
import { HelpQueue } from "./help/queue.js";
import { place, rememberedPlace, rememberPlace } from "./parts/address.js";
import { Component, html, render, useStore } from "./parts/elements.js";
import { forgetPictures } from "./parts/picture_bytes.js";
import { Failure, NotFound } from "./parts/pieces.js";
import { walkByKeys } from "./parts/table.js";
import { tickTimes } from "./parts/time.js";
import { toast, Toasts } from "./parts/toasts.js";
import { count } from "./parts/words.js";
import { call, get, session, statusOf, wordsOf } from "./server/api.js";
import { Events } from "./server/events.js";

const TICK_SECONDS = 5;
const STAY_SIGNED_IN_SECONDS = 300;

/** @type {[RegExp, (page: PageProperties) => unknown][]} */
const PAGES = [
  [/^\/machines$/, MachinesPage],
  [/^\/machines\/([^/]+)$/, MachinePage],
  [/^\/trajectories$/, TrajectoriesPage],
  [/^\/trajectories\/workflows$/, WorkflowsPage],
  [/^\/trajectories\/([^/]+)$/, TrajectoryPage],
  [/^\/runs$/, RunsPage],
  [/^\/runs\/([^/]+)$/, RunPage],
  [/^\/help$/, HelpPage],
  [/^\/activity$/, ActivityPage],
  [/^\/settings\/machines$/, AddMachinesPage],
  [/^\/settings\/machines\/([^/]+)$/, OneInvitation],
  [/^\/settings\/pools$/, PoolsPage],
  [/^\/settings\/tokens$/, TokensPage],
  [/^\/settings\/sessions$/, SessionsPage],
  [/^\/settings\/webhooks$/, WebhooksPage],
  [/^\/settings\/webhooks\/([^/]+)$/, WebhookPage],
  [/^\/settings\/organizations$/, OrganizationsPage],
  [/^\/parts$/, PartsPage],
];

/** @type {[string, string, Scope][]} */
const LINKS = [
  ["/machines", "Machines", "machines:read"],
  ["/help", "Help", "machines:read"],
  ["/trajectories", "Trajectories", "trajectories:read"],
  ["/runs", "Runs", "runs:read"],
  ["/activity", "Activity", "audit:read"],
];

/** @type {Record<string, string>} */
const CONNECTION = {
  connecting: "Connecting…",
  live: "Live",
  lost: "No connection to the server",
};

const events = new Events();

/** @type {(me: Session) => [string, string][]} the pages that this token has something of, with their names */
function linksOf(me) {
  const settings = firstSetting(me);
  const links = LINKS.filter(([, , scope]) => me.scopes.includes(scope)).map(([href, text]) => /** @type {[string, string]} */ ([href, text]));
  return settings ? [...links, [settings, "Settings"]] : links;
}

const homeOf = (/** @type {Session} */ me) => linksOf(me)[0]?.[0] ?? "/machines";

/** @param {string} path its first part, which says on which of the pages in the bar one is */
const sectionOf = (path) => path.split("/")[1];

/** @augments {Component<object, AppState>} who is signed in, if anybody, and the page that the address names */
class App extends Component {
  /** @override */
  state = /** @type {Readonly<AppState>} */ ({ me: null, helps: null, words: "", error: null, isReady: false, visit: 0 });

  /** Aborted when somebody else is signed in, or nobody. */
  #following = new AbortController();

  componentDidMount() {
    rememberPlace();
    walkByKeys();
    session.addEventListener("ended", () => {
      if (this.state.me) this.#leave("Your session has ended, or its token was revoked. Sign in to go on where you were.");
    });
    events.addEventListener("reset", () => void this.#check());
    addEventListener("hashchange", () => {
      // A link with a token may be followed in this tab as well.
      if (location.hash.startsWith("#token=")) void this.#start();
      else if (this.state.me) this.#show(true);
    });
    setInterval(tickTimes, TICK_SECONDS * 1000);
    // Looking is a use too, though it sends nothing.
    setInterval(() => document.hidden || this.#check(), STAY_SIGNED_IN_SECONDS * 1000);
    void this.#start();
  }

  #start = async () => {
    const token = /^#token=([^&]+)/.exec(location.hash)?.[1];
    // At once, so that the token stays neither in the address nor in the history.
    if (token) history.replaceState(null, "", "#");
    try {
      await this.#enter();
      if (token) toast("You were signed in already; the link was not used. Sign out to use it.");
    } catch (error) {
      if (statusOf(error) !== 401) this.setState({ error, isReady: true });
      else if (token) await this.#signIn(decoded(token)).catch((/** @type {unknown} */ refusal) => this.#leave(wordsOf(refusal)));
      else this.#leave("");
    }
  };

  /** @param {string} token to sign in with, and to go where the address says; throws a Problem where it is refused */
  #signIn = async (token) => {
    await call("POST", "console/session", { body: { token } });
    await this.#enter();
  };

  async #enter() {
    const me = /** @type {Session} */ (await get("console/session"));
    // Whatever another person was told is not this one's.
    events.stop();
    forgetPictures();
    this.#following.abort();
    this.#following = new AbortController();
    if (me.scopes.includes("machines:read")) {
      events.start(me);
      notifier.follow(events, this.#following.signal);
    }
    const helps = new HelpQueue({ events, me, signal: this.#following.signal });
    if (!place().path) history.replaceState(null, "", `#${homeOf(me)}`);
    this.setState({ me, helps, error: null, isReady: true });
    this.#show();
  }

  /** All tabs have one session: see whether somebody signed in with another token meanwhile. */
  async #check() {
    const before = this.state.me;
    if (!before) return;
    try {
      const now = /** @type {Session} */ (await get("console/session"));
      if (!this.state.me || identityOf(now) === identityOf(before)) return;
      await this.#enter();
      toast(`You are now signed in as ${now.token_name}: somebody signed in again in this browser.`);
    } catch {
      // What nobody answers says nothing of who is signed in.
    }
  }

  /** @param {string} words that the sign-in page says; after it one comes back here */
  #leave(words) {
    events.stop();
    forgetPictures();
    this.#following.abort();
    this.setState({ me: null, helps: null, words, error: null, isReady: true });
    this.#show();
  }

  #signOut = async () => {
    // First, as afterwards it would be nobody's to give.
    await giveAllBack();
    try {
      await call("DELETE", "console/session");
    } catch (error) {
      toast(`You are still signed in. ${wordsOf(error)}`, "bad");
      return;
    }
    history.replaceState(null, "", "#");
    this.#leave("You have signed out.");
  };

  /** Show the page that the address names, from its beginning. */
  #show(focus = false) {
    if (this.state.me && !place().path) history.replaceState(null, "", `#${homeOf(this.state.me)}`);
    this.setState({ visit: this.state.visit + 1 });
    if (!focus) return;
    document.getElementById("main")?.focus({ preventScroll: true });
    if (!rememberedPlace()) scrollTo(0, 0);
  }

  render() {
    const { me, helps, visit, isReady } = this.state;
    return html`
      ${me && helps && html`<${Bar} me=${me} helps=${helps} signOut=${this.#signOut} />`}
      <main id="main" tabindex="-1">${isReady ? html`<div key=${visit}>${this.#page()}</div>` : html`<p class="empty">Loading…</p>`}</main>
      <${Toasts} />
    `;
  }

  #page() {
    const { me, helps, words, error } = this.state;
    if (error) return html`<${Failure} error=${error} again=${this.#start} />`;
    if (!me || !helps) return html`<${SignIn} key=${words} signIn=${this.#signIn} words=${words} />`;
    const { path, query } = place();
    for (const [pattern, Page] of PAGES) {
      const match = pattern.exec(path);
      if (match) return html`<${Page} events=${events} me=${me} helps=${helps} query=${query} id=${decoded(match[1])} />`;
    }
    return html`<${NotFound} what="page" back="#/machines" name="the machines" />`;
  }
}

/** @param {Session} person */
const identityOf = ({ token_name, organization_id, scopes }) => JSON.stringify([token_name, organization_id, scopes]);

function decoded(part = "") {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Bar(/** @type {{me: Session, helps: HelpQueue, signOut: () => Promise<void>}} */ { me, helps, signOut }) {
  const { path } = place();
  return html`<header class="bar" id="bar">
    <a class="brand" href="#${homeOf(me)}">Farhand</a>
    <nav aria-label="Pages">
      ${linksOf(me).map(([href, text]) =>
        html`<a href="#${href}" aria-current=${sectionOf(path) === sectionOf(href) ? "page" : null}>${text}${href === "/help" && html`<${HelpCount} helps=${helps} />`}</a>`)}
    </nav>
    ${me.scopes.includes("machines:read") && html`<${Connection} />`}
    <span class="who" title="Organization ${me.organization_id}">${me.token_name}</span>
    <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
  </header>`;
}

/** @param {{helps: HelpQueue}} properties of how many wait for somebody */
function HelpCount({ helps }) {
  const { open } = useStore(helps);
  return open.length ? html` <span class="waiting-count" title=${count(open.length, "request")}>${open.length}</span>` : null;
}

function Connection() {
  const { state, refusal } = useStore(events, "state");
  const words = (state === "lost" && refusal) || (CONNECTION[state] ?? "");
  return html`<span class="connection" role="status" id="connection" data-state=${state} title=${words}>${words}</span>`;
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  // As an address of the console it would lead to another page.
  event.preventDefault();
  document.getElementById("main")?.focus();
});
const app = document.getElementById("app");
if (app) render(html`<${App} />`, app);
