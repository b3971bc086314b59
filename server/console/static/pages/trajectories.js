/** Trajectories: filters, search, and a list that goes on as far as one looks. */

import { keepChosen } from "../parts/address.js";
import { call, query as queried, statusOf } from "../server/api.js";
import { h, setText } from "../parts/dom.js";
import { commandLine, emptyState, failure, labelled, timeAgo } from "../parts/old_pieces.js";
import { count } from "../parts/words.js";

const PAGE = 20;
const TYPING_MILLISECONDS = 250;

/** @type {Record<string, Field>} */
const FIELDS = {
  search: { label: "Search", kind: "search", placeholder: "Name, description, id" },
  workflow_id: { label: "Workflow", options: [["", "All"]] },
  is_approved: {
    label: "Approval",
    options: [
      ["", "Any"],
      ["true", "Approved"],
      ["false", "Not approved"],
    ],
  },
  is_generated: {
    label: "Generation",
    options: [
      ["null", "Any"],
      ["true", "Generated"],
      ["false", "Pending"],
    ],
  },
  created_at_from: { label: "Created from", kind: "date" },
  created_at_to: { label: "Created to", kind: "date" },
};

/** @param {string} name */
function defaultOf(name) {
  return FIELDS[name]?.options?.[0]?.[0] ?? "";
}

/** @param {Page} page */
export function trajectoriesPage({ signal, events, query, title }) {
  title("Trajectories");
  /** @type {Map<string, string>} */
  const workflows = new Map();
  /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
  const fields = {};
  const list = h("ul", { class: "trajectories", "aria-label": "Trajectories" });
  const told = h("p", { class: "small", role: "status" });
  const more = h("button", { type: "button", hidden: true, click: () => readMore() }, "Show more");
  const news = h("button", { type: "button", class: "news", hidden: true, click: () => begin() }, "There are changes: show them");
  const place = h("div", {}, list);
  const form = h("form", { class: "filters", role: "search", submit: (event) => event.preventDefault() });
  for (const [name, field] of Object.entries(FIELDS)) form.append(labelled(field.label, make(name, field)));
  const page = h("section", {}, h("h1", {}, "Trajectories"), form, news, place, told, more);

  /** @type {AbortController | null} */
  let reading = null;
  /** @type {Set<string>} */
  let ids = new Set();
  let asked = 0;
  let total = 0;

  /** @type {(name: string, field: Field) => HTMLElement} */
  function make(name, { kind, options, placeholder }) {
    const field = options
      ? h("select", {}, options.map(([value, text]) => h("option", { value }, text)))
      : h("input", { type: kind, placeholder, maxlength: kind === "search" ? 2000 : null });
    field.value = query.get(name) ?? defaultOf(name);
    field.addEventListener(kind === "search" ? "input" : "change", changed);
    fields[name] = field;
    return field;
  }

  let typing = 0;
  /** @param {Event} event */
  function changed(event) {
    clearTimeout(typing);
    typing = setTimeout(begin, event.type === "input" ? TYPING_MILLISECONDS : 0);
  }
  signal.addEventListener("abort", () => clearTimeout(typing));

  function chosen() {
    const values = Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]));
    values.search = values.search?.trim() ?? "";
    return values;
  }

  /** A day of the reader's own calendar begins and ends by the reader's own clock. */
  function parameters() {
    const { created_at_from: from = "", created_at_to: to = "", ...rest } = chosen();
    return {
      ...rest,
      created_at_from: from && new Date(`${from}T00:00:00`).toISOString(),
      created_at_to: to && new Date(`${to}T23:59:59.999`).toISOString(),
      include: "workflow",
    };
  }

  function keepAddress() {
    const kept = Object.entries(chosen()).filter(([name, value]) => value !== defaultOf(name));
    keepChosen("/trajectories", Object.fromEntries(kept));
  }

  async function begin() {
    if (signal.aborted) return;
    keepAddress();
    asked = 0;
    ids = new Set();
    news.hidden = true;
    await readMore();
  }

  async function readMore() {
    reading?.abort();
    reading = new AbortController();
    const current = AbortSignal.any([signal, reading.signal]);
    const first = asked === 0;
    more.disabled = true;
    try {
      const address = queried("v1/trajectories", { ...parameters(), skip: asked, limit: PAGE });
      /** @type {Answer<TrajectoryPart>} */
      const { data } = await call("GET", address, { signal: current });
      for (const each of data.included ?? []) learn(each);
      if (first) list.replaceChildren();
      // What was added meanwhile moves the rest by a place: nothing is shown twice.
      const fresh = data.items.filter(({ id }) => !ids.has(id));
      for (const each of fresh) ids.add(each.id);
      list.append(...fresh.map((each) => item(each, workflows)));
      asked += data.items.length;
      total = data.total;
      show();
    } catch (error) {
      if (current.aborted || statusOf(error) === 401) return;
      place.replaceChildren(failure(error, begin));
      more.hidden = true;
    } finally {
      if (!current.aborted) more.disabled = false;
    }
  }

  function show() {
    more.hidden = asked >= total;
    setText(told, total ? `${list.children.length} of ${count(total, "trajectory", "trajectories")}` : "");
    if (total) place.replaceChildren(list);
    else place.replaceChildren(isFiltered() ? nothingFound(clear) : firstTrajectory());
  }

  function isFiltered() {
    return location.hash.includes("?");
  }

  function clear() {
    for (const [name, field] of Object.entries(fields)) field.value = defaultOf(name);
    void begin();
  }

  /** @param {Workflow} workflow */
  function learn({ id, name }) {
    if (workflows.has(id)) return;
    workflows.set(id, name);
    fields.workflow_id?.append(h("option", { value: id }, name));
    if (fields.workflow_id && query.get("workflow_id") === id) fields.workflow_id.value = id;
  }

  async function readWorkflows() {
    /** @type {Answer<Part<Workflow>>} */
    const { data } = await call("GET", "v1/workflows?limit=1000", { signal });
    for (const each of data.items) learn(each);
  }

  new IntersectionObserver(([seen]) => {
    if (seen?.isIntersecting && !more.hidden && !more.disabled) void readMore();
  }).observe(more);
  events.on("trajectory", () => (news.hidden = false), signal);
  // The list says itself what is wrong, if nothing can be read; names are only pleasant to have.
  readWorkflows()
    .catch(() => {})
    .finally(() => void begin());
  return page;
}

/** @param {Trajectory} trajectory */
export function approvalBadge({ is_generated, is_approved }) {
  const [kind, text] = !is_generated
    ? ["waits", "… Pending"]
    : is_approved
      ? ["good", "✓ Approved"]
      : ["none", "○ Not approved"];
  return h("span", { class: "outcome", "data-kind": kind }, text);
}

/** @type {(trajectory: Trajectory, workflows: Map<string, string>) => HTMLElement} */
function item(trajectory, workflows) {
  const { id, name, description, workflow_id, trajectory_data, dimensions, created_at } = trajectory;
  const { width, height } = dimensions ?? {};
  return h(
    "li",
    {},
    h("a", { href: `#/trajectories/${id}` }, name || "Without a name"),
    approvalBadge(trajectory),
    h("p", {}, description ?? ""),
    h(
      "p",
      { class: "small" },
      [workflows.get(workflow_id), count(trajectory_data?.length ?? 0, "step"), width && `${width} × ${height}`]
        .filter(Boolean)
        .join(" · "),
      " · ",
      timeAgo(created_at),
    ),
  );
}

/** @param {() => void} clear */
function nothingFound(clear) {
  return emptyState(
    "Nothing fits",
    h("p", {}, "No trajectory fits all of these filters."),
    h("button", { type: "button", click: clear }, "Clear the filters"),
  );
}

function firstTrajectory() {
  return emptyState(
    "No trajectory yet",
    h("p", {}, "A trajectory is a recorded sequence of steps. Bring in those that you have, one JSON object a line:"),
    commandLine("farhand trajectory import FILE"),
    h("p", {}, "Or send one with POST /v1/trajectories."),
  );
}
