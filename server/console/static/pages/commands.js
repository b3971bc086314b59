/** What was done on a machine lately, by programs and by hand: by whom, when, and how it ended. */

import { html, useMade, useStore } from "../parts/elements.js";
import { Reading } from "../parts/reading.js";
import { OutcomeBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { count, operationOf, span } from "../parts/words.js";
import { call, path, query, wordsOf } from "../server/api.js";

const SHOWN = 50;

/** @param {{machineId: string} & Pick<PageProperties, "events" | "me">} properties */
export function CommandList({ machineId, events, me }) {
  const { items, total, error } = useStore(useMade((signal) => new Commands(machineId, events, signal)));
  const more = total > items.length ? `The latest ${items.length} of ${count(total, "command")}.` : "";
  return html`
    <ol class="commands" tabindex="0" aria-label="Recent commands">${items.map((item) => html`<${Line} key=${item.command_id} ...${item} />`)}</ol>
    <p class="small">${error ? wordsOf(error) : total < 0 ? "Reading…" : items.length ? more : "Nothing was done on this machine yet."}</p>
    ${me.scopes.includes("audit:read") &&
    html`<p class="small"><a href=${query("#/activity", { machine_id: machineId })}>All that was done on it</a></p>`}
  `;
}

/** @param {CommandItem} item */
function Line({ command_id, operation, outcome, code, token_name, duration_ms, accepted_at, note }) {
  return html`<li title=${`Command ${command_id}`} data-operation=${operation}>
    <b>${operationOf(operation)}</b>
    <${OutcomeBadge} outcome=${outcome} code=${code} />
    <${Ago} time=${accepted_at} />
    <span class="by" dir="auto" title=${token_name}>${token_name ?? "–"}</span>
    <span class="took">${note ?? (duration_ms === null ? "" : span(duration_ms))}</span>
  </li>`;
}

/**
 * A machine with a command in its counts, where its outcome is final.  The server tells each
 * command, and the counts only with the machine.
 * @param {Machine} machine
 * @param {CommandItem} command
 * @returns {Machine}
 */
export function counted(machine, { outcome, accepted_at, inputs: several }) {
  if (outcome === "pending" || !machine.inputs) return machine;
  const name = outcome === "completed" ? "completed" : "failed";
  const inputs = { ...machine.inputs, [name]: machine.inputs[name] + several };
  return { ...machine, inputs, last_input_at: accepted_at };
}

/** A list that begins with what the server remembers and goes on with what it tells. */
class Commands extends Reading {
  /** @type {CommandItem[]} */
  items = [];
  /** How many there are; negative until they are read. */
  total = -1;
  /** @type {CommandItem[]} what is said while the list is on its way, which is newer */
  #meanwhile = [];

  /**
   * @param {string} machineId
   * @param {PageProperties["events"]} events
   * @param {AbortSignal} signal
   */
  constructor(machineId, events, signal) {
    super(signal);
    this.address = query(path`v1/machines/${machineId}/commands`, { limit: SHOWN });
    events.on("reset", this.read, signal);
    events.on("command", ({ detail }) => detail.machine_id === machineId && this.#take([detail], this.items), signal);
    void this.read();
  }

  /**
   * @override
   * @param {AbortSignal} signal
   */
  async load(signal) {
    this.#meanwhile = [];
    /** @type {Answer<Part<CommandItem>>} */
    const { data } = await call("GET", this.address, { signal });
    this.total = data.total;
    this.#take(this.#meanwhile.splice(0), data.items);
  }

  /** @type {(fresh: CommandItem[], others: CommandItem[]) => void} */
  #take(fresh, others) {
    if (this.isReading) this.#meanwhile.push(...fresh);
    const items = new Map([...others, ...fresh].map((item) => [item.command_id, item]));
    if (this.total >= 0) this.total += items.size - others.length;
    this.items = [...items.values()].toSorted((one, other) => (one.accepted_at < other.accepted_at ? 1 : -1)).slice(0, SHOWN);
    this.tell();
  }
}
