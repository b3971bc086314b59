/** All machines in one table: those in trouble first, with the reason and since when. */

import { keepChosen } from "./address.js";
import { capital, HOME, listAll, path, statusOf } from "./api.js";
import { counted } from "./commands.js";
import { h, pause, setAttribute, setText } from "./dom.js";
import {
  commandLine,
  emptyState,
  failure,
  holderLine,
  labelled,
  setTime,
  stateShape,
  timeAgo,
} from "./parts.js";
import { count, displays, number, span, STATES, stateOf, troubleOf, whyOf } from "./words.js";

const COUNTS_SECONDS = 60;
const AGAIN_MILLISECONDS = 3000;

const NAMES = new Intl.Collator(undefined, { numeric: true });

/** @type {Order} */
const newest = (one, other) => (one.since < other.since ? 1 : one.since > other.since ? -1 : 0);
/** @type {Order} */
const byName = (one, other) =>
  NAMES.compare(one.name, other.name) || (one.id < other.id ? -1 : 1);
/** @type {(value: (machine: Machine) => number | null | undefined) => Order} */
const most = (value) => (one, other) => (value(other) ?? -1) - (value(one) ?? -1);

/** @type {Column[]} */
const COLUMNS = [
  { key: "state", label: "State", order: null },
  { key: "name", label: "Machine", order: byName },
  { key: "reason", label: "Why" },
  { key: "since", label: "Since", order: newest },
  { key: "round_trip", label: "Round trip", order: most((one) => one.round_trip_ms), numeric: true },
  { key: "display", label: "Display" },
  { key: "version", label: "Version" },
  { key: "inputs", label: "Inputs", order: most((one) => one.inputs?.completed), numeric: true },
  { key: "failed", label: "Failed", order: most((one) => one.inputs?.failed), numeric: true },
];

/**
 * Trouble first, the latest of it above; what works is by name, so that it stays in its place.
 * @type {Order}
 */
function byTrouble(one, other) {
  const [mine, others] = [troubleOf(one), troubleOf(other)];
  if (mine !== others) return mine - others;
  return (whyOf(one) ? newest(one, other) : 0) || byName(one, other);
}

/** @param {Page} page */
export function machinesPage({ signal, events, query, title }) {
  title("Machines");
  /** @type {Map<string, Machine>} */
  const machines = new Map();
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const chosen = { text: query.get("q") ?? "", state: query.get("state") ?? "", order: "state" };
  let drawing = 0;
  let isRead = false;

  /** @type {HTMLInputElement} */
  const search = h("input", {
    type: "search",
    placeholder: "Name, id, reason…",
    input: () => choose({ text: search.value }),
  });
  search.value = chosen.text;
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Show only" });
  const heads = COLUMNS.map((column) => heading(column, () => choose({ order: column.key })));
  // The roles are said although they are a table's own: the style sheet makes it a grid, whose rows
  // are laid out alone, and only where they are seen.
  const body = h("tbody", { role: "rowgroup" });
  const table = h(
    "table",
    { class: "machines", role: "table", "aria-label": "Machines" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
    body,
  );
  const told = h("p", { class: "small", role: "status" });
  const place = h("div", { class: "place" }, h("p", { class: "empty" }, "Reading the machines…"));
  const page = h(
    "section",
    {},
    h("div", { class: "head" }, h("h1", {}, "Machines"), labelled("Filter", search, "field inline")),
    chips,
    place,
    told,
  );

  /** @param {Partial<typeof chosen>} change */
  function choose(change) {
    Object.assign(chosen, change);
    keepChosen("/machines", { q: chosen.text, state: chosen.state });
    draw();
  }

  /** Once for all that has changed until the browser paints next. */
  function draw() {
    drawing ||= requestAnimationFrame(() => {
      drawing = 0;
      if (!signal.aborted) drawNow();
    });
  }

  function drawNow() {
    if (!isRead) return;
    drawChips();
    page.classList.toggle("none", !machines.size);
    if (!machines.size) {
      if (!place.querySelector(".first-machine")) place.replaceChildren(firstMachine());
      setText(told, "");
      return;
    }
    if (!table.isConnected) place.replaceChildren(h("div", { class: "scroll" }, table));
    const order = COLUMNS.find(({ key }) => key === chosen.order)?.order ?? byTrouble;
    const found = [...machines.values()].filter(wanted).toSorted((a, b) => order(a, b) || byName(a, b));
    for (const head of heads)
      setAttribute(head, "aria-sort", head.dataset.column === chosen.order ? "descending" : null);
    arrange(found.map((machine) => rowOf(rows, machine).element));
    const all = found.length === machines.size;
    setText(
      told,
      all ? count(machines.size, "machine") : `${found.length} of ${count(machines.size, "machine")}`,
    );
  }

  /**
   * Bring the rows into this order, without touching those that are in their places.
   * @param {HTMLElement[]} wantedRows
   */
  function arrange(wantedRows) {
    const focused = document.activeElement;
    let next = body.firstChild;
    for (const row of wantedRows) {
      if (row === next) next = next.nextSibling;
      else body.insertBefore(row, next);
    }
    while (next) {
      const surplus = next;
      next = next.nextSibling;
      surplus.remove();
    }
    if (focused instanceof HTMLElement && body.contains(focused) && document.activeElement !== focused)
      focused.focus({ preventScroll: true });
  }

  /** @param {Machine} machine */
  function wanted(machine) {
    if (chosen.state && machine.state !== chosen.state) return false;
    const text = chosen.text.trim().toLowerCase();
    if (!text) return true;
    const { name, id, reason, platform, client_version, control, viewers } = machine;
    const people = [control?.by, ...(viewers ?? [])];
    const parts = [name, id, reason, platform, client_version, ...people, stateOf(machine.state).word];
    return parts.some((part) => part?.toLowerCase().includes(text));
  }

  function drawChips() {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const { state } of machines.values()) counts[state] = (counts[state] ?? 0) + 1;
    /** @type {[string, string, number][]} */
    const all = [["", "All", machines.size]];
    const known = new Set([...Object.keys(STATES), ...Object.keys(counts)]);
    for (const state of known) all.push([state, stateOf(state).word, counts[state] ?? 0]);
    const text = JSON.stringify([all, chosen.state]);
    if (chips.dataset.shown === text) return;
    chips.dataset.shown = text;
    const focused = [...chips.children].findIndex((chip) => chip === document.activeElement);
    const buttons = all.map(([state, word, amount]) =>
      h(
        "button",
        {
          type: "button",
          class: "chip",
          "data-state": state,
          "data-none": amount === 0,
          "aria-pressed": String(chosen.state === state),
          click: () => choose({ state: chosen.state === state ? "" : state }),
        },
        state && stateShape(state),
        h("b", {}, String(amount)),
        ` ${word}`,
      ),
    );
    chips.replaceChildren(...buttons);
    if (focused >= 0) buttons[focused]?.focus();
  }

  /** @type {AbortController | null} */
  let reading = null;
  /**
   * What is said while the list is on its way is newer than the list.
   * @type {Map<string, Machine | null>}
   */
  let meanwhile = new Map();
  async function readAll() {
    reading?.abort();
    reading = new AbortController();
    meanwhile = new Map();
    const current = AbortSignal.any([signal, reading.signal]);
    try {
      /** @type {Machine[]} */
      const all = await listAll("v1/machines", current);
      machines.clear();
      for (const machine of all) machines.set(machine.id, machine);
      for (const [id, machine] of meanwhile) apply(id, machine);
      for (const id of rows.keys()) if (!machines.has(id)) rows.delete(id);
      meanwhile = new Map();
      isRead = true;
      draw();
    } catch (error) {
      if (current.aborted || statusOf(error) === 401) return;
      if (!isRead && !place.querySelector("[role=alert]")) place.replaceChildren(failure(error, readAll));
      // What is shown is no longer true, or nothing is: it is read as soon as that can be.
      if (statusOf(error) !== 403) void readSoon(current);
    }
  }

  /** @param {AbortSignal} current */
  async function readSoon(current) {
    await pause(AGAIN_MILLISECONDS, current);
    if (!current.aborted) void readAll();
  }

  /** @type {(id: string, machine: Machine | null) => void} */
  function heard(id, machine) {
    meanwhile.set(id, machine);
    apply(id, machine);
    draw();
  }

  /** @type {(id: string, machine: Machine | null) => void} */
  function apply(id, machine) {
    if (machine) machines.set(id, machine);
    else {
      machines.delete(id);
      rows.delete(id);
    }
  }

  /** @type {Listen} */
  const listen = (type, take) => events.on(type, take, signal);
  listen("reset", readAll);
  listen("machine", ({ detail }) => heard(detail.id, detail));
  listen("machine_removed", ({ detail }) => heard(detail.id, null));
  let stale = 0;
  listen("command", ({ detail }) => {
    const machine = machines.get(detail.machine_id);
    if (!machine) return;
    apply(machine.id, counted(machine, detail));
    draw();
    // What was counted here and on the server at once is put right from time to time.
    stale ||= setTimeout(() => {
      stale = 0;
      void readAll();
    }, COUNTS_SECONDS * 1000);
  });
  signal.addEventListener("abort", () => clearTimeout(stale));
  void readAll();
  return page;
}

/** @type {(column: Column, choose: () => void) => HTMLElement} */
function heading({ key, label, order, numeric }, choose) {
  const sortable = order !== undefined;
  const said = sortable ? `Sort by ${label.toLowerCase()}` : null;
  return h(
    "th",
    { scope: "col", role: "columnheader", class: numeric ? "number" : null, "data-column": key },
    sortable ? h("button", { type: "button", title: said, click: choose }, label) : label,
  );
}

/** @typedef {ReturnType<typeof newRow>} Row */

/**
 * The machine's row, made once and then only changed where it differs.
 * @type {(rows: Map<string, Row>, machine: Machine) => Row}
 */
function rowOf(rows, machine) {
  let row = rows.get(machine.id);
  if (!row) {
    row = newRow(machine);
    rows.set(machine.id, row);
  }
  if (row.machine === machine) return row;
  row.machine = machine;
  const { cells, element } = row;
  if (element.dataset.state !== machine.state) {
    element.dataset.state = machine.state;
    cells.state.replaceChildren(stateShape(machine.state), stateOf(machine.state).word);
  }
  setText(cells.link, machine.name);
  setText(cells.id, machine.id === machine.name ? "" : machine.id);
  setText(cells.why, capital(whyOf(machine)));
  showHolder(cells, machine.control);
  showViewers(cells, machine.viewers ?? []);
  setAttribute(cells.reason, "title", machine.reason);
  setTime(cells.since, machine.since);
  setText(cells.round_trip, machine.round_trip_ms === null ? "–" : span(machine.round_trip_ms));
  setText(cells.display, displays(machine.displays));
  setText(cells.version, machine.client_version ?? "–");
  setAttribute(cells.version, "title", machine.platform);
  setText(cells.inputs, number(machine.inputs?.completed));
  setText(cells.failed, number(machine.inputs?.failed));
  setAttribute(cells.failed, "data-some", machine.inputs?.failed > 0);
  return row;
}

/**
 * Who has control of the machine, which of most is nobody: those rows stay without a line for it.
 * @type {(cells: Row["cells"], holder: Holder | null) => void}
 */
function showHolder(cells, holder) {
  if (holder && !cells.holder) {
    cells.holder = holderLine();
    cells.reason.append(" ", cells.holder.element);
  }
  cells.holder?.show(holder);
}

/**
 * Who looks at the machine's screen; rows at which nobody does stay without a line for it.
 * @type {(cells: Row["cells"], viewers: string[]) => void}
 */
function showViewers(cells, viewers) {
  if (viewers.length && !cells.viewers) {
    cells.viewers = h("small");
    cells.reason.append(" ", cells.viewers);
  }
  if (cells.viewers) setText(cells.viewers, viewers.length ? `Watched by ${viewers.join(", ")}.` : "");
}

/** @param {Machine} machine */
function newRow({ id }) {
  /** @type {(column: string, ...content: Child[]) => HTMLElement} */
  const cell = (column, ...content) => {
    const { label, numeric } = COLUMNS.find(({ key }) => key === column) ?? {};
    const attributes = { role: "cell", "data-label": label, "data-column": column };
    return h("td", { ...attributes, class: numeric ? "number" : null }, content);
  };
  const why = h("span");
  const cells = {
    state: h("span", { class: "state" }),
    link: h("a", { href: `#${path`/machines/${id}`}` }),
    id: h("small"),
    reason: cell("reason", why),
    why,
    holder: /** @type {ReturnType<typeof holderLine> | null} */ (null),
    viewers: /** @type {HTMLElement | null} */ (null),
    since: timeAgo(null),
    round_trip: cell("round_trip"),
    display: cell("display"),
    version: cell("version"),
    inputs: cell("inputs"),
    failed: cell("failed"),
  };
  const element = h(
    "tr",
    { role: "row" },
    cell("state", cells.state),
    cell("name", cells.link, cells.id),
    cells.reason,
    cell("since", cells.since),
    cells.round_trip,
    cells.display,
    cells.version,
    cells.inputs,
    cells.failed,
  );
  return { element, cells, machine: /** @type {Machine | null} */ (null) };
}

/** What to do where there is no machine yet. */
function firstMachine() {
  const server = HOME.href.replace(/\/$/, "");
  return h(
    "div",
    { class: "first-machine" },
    emptyState(
      "No machine yet",
      h("p", {}, "A machine is a desktop that takes input from here. Add one on the server; the command prints its token:"),
      commandLine("farhand machine add desk-1"),
      h("p", {}, "Then, on that desktop, with the token:"),
      commandLine(`farhand-machine join --server ${server} --token TOKEN`),
      h("p", {}, "It appears here by itself, within a second."),
    ),
  );
}
