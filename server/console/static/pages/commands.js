/** What was done on a machine lately: by whom, when, and how it ended. */

import { call, path, query, statusOf, wordsOf } from "../server/api.js";
import { html, useLayoutEffect, useMade, useRef } from "../parts/elements.js";
import { fill, h, setText } from "../parts/dom.js";
import { outcomeBadge, timeAgo } from "../parts/old_pieces.js";
import { count, operationOf, span } from "../parts/words.js";

const SHOWN = 50;

/** A list that begins with what the server remembers and goes on with what it tells. */
/** @param {{machineId: string, events: import("../server/events.js").Events, me: Session}} properties */
export function CommandList({ machineId, events }) {
  const place = useRef(document.body);
  const list = useMade((signal) => {
    const made = new OldCommandList(machineId, signal);
    events.on("reset", () => made.read(), signal);
    events.on("command", ({ detail }) => detail.machine_id === machineId && made.take(detail), signal);
    void made.read();
    return made;
  });
  useLayoutEffect(() => place.current.replaceChildren(list.element), []);
  return html`<div ref=${place}></div>`;
}

class OldCommandList {
  /** @type {Map<string, CommandItem>} */
  #items = new Map();
  #total = 0;
  #drawing = 0;

  /**
   * @param {string} machineId
   * @param {AbortSignal} signal
   */
  constructor(machineId, signal) {
    this.machineId = machineId;
    this.signal = signal;
    this.list = h("ol", { class: "commands", tabindex: "0", "aria-label": "Recent commands" });
    this.told = h("p", { class: "small" }, "Reading…");
    this.element = h("div", {}, this.list, this.told);
  }

  async read() {
    try {
      const address = query(path`/v1/machines/${this.machineId}/commands`, { limit: SHOWN });
      /** @type {Answer<Part<CommandItem>>} */
      const { data } = await call("GET", address, { signal: this.signal });
      const said = [...this.#items.values()].filter((item) => !data.items.some(same(item)));
      const newer = said.filter((item) => item.accepted_at > (data.items[0]?.accepted_at ?? ""));
      this.#items = new Map([...newer, ...data.items].map((item) => [item.command_id, item]));
      this.#total = data.total + newer.length;
      this.#draw();
    } catch (error) {
      if (this.signal.aborted || statusOf(error) === 401) return;
      const words = statusOf(error) === 404 ? "This server does not tell commands." : wordsOf(error);
      setText(this.told, words);
    }
  }

  /**
   * Take what an event says of a command: a new one, or how a known one has ended.
   * @param {CommandItem} item
   */
  take(item) {
    if (!this.#items.has(item.command_id)) {
      this.#total += 1;
      this.#items = new Map([[item.command_id, item], ...this.#items]);
      for (const id of [...this.#items.keys()].slice(SHOWN)) this.#items.delete(id);
    } else this.#items.set(item.command_id, item);
    this.#draw();
  }

  #draw() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      const items = [...this.#items.values()];
      items.sort((one, other) => (one.accepted_at < other.accepted_at ? 1 : -1));
      fill(this.list, items.map(line));
      const more = this.#total > items.length ? `The latest ${items.length} of ${count(this.#total, "command")}.` : "";
      setText(this.told, items.length ? more : "Nothing was done on this machine yet.");
    });
  }
}

/**
 * A machine with one more input in its counts, where the command's outcome is final.  The server
 * tells each command, and the counts only with the machine.
 * @param {Machine} machine
 * @param {CommandItem} command
 * @returns {Machine}
 */
export function counted(machine, { outcome, accepted_at }) {
  if (outcome === "pending" || !machine.inputs) return machine;
  const name = outcome === "completed" ? "completed" : "failed";
  const inputs = { ...machine.inputs, [name]: machine.inputs[name] + 1 };
  return { ...machine, inputs, last_input_at: accepted_at };
}

/** @param {CommandItem} item */
function same(item) {
  return (/** @type {CommandItem} */ other) => other.command_id === item.command_id;
}

/** @param {CommandItem} item */
function line(item) {
  return h(
    "li",
    { title: `Command ${item.command_id}` },
    h("b", {}, operationOf(item.operation)),
    outcomeBadge(item.outcome, item.code),
    h("span", { class: "by" }, item.token_name ?? "–"),
    h("span", { class: "took" }, item.duration_ms === null ? "" : span(item.duration_ms)),
    timeAgo(item.accepted_at),
  );
}
