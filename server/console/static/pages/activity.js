/** Who did what, to what and when: the organization's audit, newest first. */

import { keepChosen } from "../parts/address.js";
import { call, capital, path, query as queried, statusOf } from "../server/api.js";
import { h, setText } from "../parts/dom.js";
import { emptyState, failure, labelled, outcomeBadge, timeAgo } from "../parts/old_pieces.js";
import { operationOf } from "../parts/words.js";

const PAGE = 50;
const TYPING_MILLISECONDS = 250;

/** @type {[string, string][]} */
const FAMILIES = [
  ["", "Everything"],
  ["input", "Inputs"],
  ["machine", "Machines"],
  ["control", "Control"],
  ["trajectory", "Trajectories"],
  ["workflow", "Workflows"],
  ["token", "Tokens"],
  ["session", "Signing in and out"],
  ["organization", "Organizations"],
];

/** @param {Page} page */
export function activityPage({ signal, query, title }) {
  title("Activity");
  const machine = h("input", { type: "search", placeholder: "Id of a machine", maxlength: 128 });
  const action = h("select", {}, FAMILIES.map(([value, text]) => h("option", { value }, text)));
  machine.value = query.get("machine_id") ?? "";
  action.value = query.get("action") ?? "";
  const list = h("ol", { class: "activity" });
  const place = h("div", {}, list);
  const told = h("p", { class: "small", role: "status" });
  const more = h("button", { type: "button", hidden: true, click: () => readMore() }, "Show more");
  const page = h(
    "section",
    {},
    h("h1", {}, "Activity"),
    h(
      "form",
      { class: "filters", role: "search", submit: (event) => event.preventDefault() },
      labelled("Machine", machine),
      labelled("What", action),
      h("button", { type: "button", class: "again", click: () => begin() }, "Read again"),
    ),
    place,
    told,
    more,
  );
  /** @type {AbortController | null} */
  let reading = null;
  let shown = 0;
  /**
   * From when the newest entry of the first page is: what comes later would move the others.
   * @type {string | null}
   */
  let newest = null;
  /** @type {Set<string>} */
  let ids = new Set();
  let typing = 0;

  machine.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(begin, TYPING_MILLISECONDS);
  });
  action.addEventListener("change", () => void begin());
  signal.addEventListener("abort", () => clearTimeout(typing));

  function chosen() {
    return { machine_id: machine.value.trim(), action: action.value };
  }

  function begin() {
    if (signal.aborted) return undefined;
    keepChosen("/activity", chosen());
    shown = 0;
    newest = null;
    ids = new Set();
    return readMore();
  }

  async function readMore() {
    reading?.abort();
    reading = new AbortController();
    const current = AbortSignal.any([signal, reading.signal]);
    more.disabled = true;
    try {
      const part = { created_at_to: newest, skip: shown, limit: PAGE };
      const address = queried("v1/audit", { ...chosen(), ...part });
      /** @type {Answer<Part<AuditEntry>>} */
      const { data } = await call("GET", address, { signal: current });
      if (!shown) list.replaceChildren();
      newest ??= data.items[0]?.created_at ?? null;
      // An input is recorded after it was accepted, so that some still come before others.
      const fresh = data.items.filter(({ id }) => !ids.has(id));
      for (const { id } of fresh) ids.add(id);
      list.append(...fresh.map(entry));
      shown += data.items.length;
      more.hidden = shown >= data.total || !data.items.length;
      setText(told, shown ? `The latest ${shown} of ${data.total}` : "");
      place.replaceChildren(shown ? list : nothing());
    } catch (error) {
      if (current.aborted || statusOf(error) === 401) return;
      place.replaceChildren(failure(error, begin));
      more.hidden = true;
    } finally {
      if (!current.aborted) more.disabled = false;
    }
  }

  void begin();
  return page;
}

function nothing() {
  return emptyState("Nothing was done", h("p", {}, "No entry fits: every input and every change is here once it has happened."));
}

/**
 * "machine.paused" is "Machine paused"; an input is called as everywhere.
 * @param {AuditEntry} entry
 */
function words({ action, command }) {
  if (command) return operationOf(command.operation);
  return capital(action.replace(/[._]/g, " "));
}

/** @param {AuditEntry} item */
function entry(item) {
  const { machine_id, token_name, created_at, command } = item;
  const what = machine_id ? h("a", { href: `#${path`/machines/${machine_id}`}` }, machine_id) : named(item);
  return h(
    "li",
    { title: `Request ${item.request_id}` },
    timeAgo(created_at),
    h("b", {}, words(item)),
    what,
    command ? outcomeBadge(command.outcome, command.code) : h("span"),
    h("span", { class: "by" }, token_name ?? "–"),
  );
}

/**
 * What it was done to: by its name, as an id says little, and of a token with what it allowed.
 * @param {AuditEntry} item
 */
function named({ target, target_name, grant }) {
  const scopes = grant?.scopes.join(", ");
  const allowed = grant && ` (${grant.role ?? scopes})`;
  return h("span", { title: scopes ?? null }, target_name ?? target ?? "", allowed);
}
