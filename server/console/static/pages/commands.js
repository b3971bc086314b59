/** What was done on a machine lately, by programs and by hand: by whom, when, and how it ended. */

import { html, useMade, useStore } from "../parts/elements.js";
import { Reading } from "../parts/reading.js";
import { OutcomeBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { count, operationOf, span } from "../parts/words.js";
import { get, path, query, wordsOf } from "../server/api.js";

const SHOWN = 50;

/** @param {{machineId: string} & Pick<PageProperties, "events" | "me">} page */
export function CommandList({ machineId, ...page }) {
  const { items, total, error } = useStore(useMade((signal) => new Commands({ machineId, ...page, signal })));
  const more = total > items.length ? `The latest ${items.length} of ${count(total, "command")}.` : "";
  return html`
    <ol class="commands" tabindex="0" aria-label="Recent commands">${items.map((item) => html`<${Line} key=${item.command_id} ...${item} />`)}</ol>
    <p class="small">${error ? wordsOf(error) : total < 0 ? "Reading…" : items.length ? more : "Nothing was done on this machine yet."}</p>
    ${page.me.scopes.includes("audit:read") &&
    html`<p class="small"><a href=${query("#/activity", { machine_id: machineId })}>All that was done on it</a></p>`}
  `;
}

/** @param {CommandItem} item */
const Line = ({ command_id, operation, outcome, code, token_name, duration_ms, accepted_at, note }) =>
  html`<li title=${`Command ${command_id}`} data-operation=${operation}>
    <b>${operationOf(operation)}</b>
    <${OutcomeBadge} outcome=${outcome} code=${code} />
    <${Ago} time=${accepted_at} />
    <span class="by" dir="auto" title=${token_name}>${token_name ?? "–"}</span>
    <span class="took">${note ?? (duration_ms === null ? "" : span(duration_ms))}</span>
  </li>`;

/** @type {(machine: Machine, command: CommandItem) => Machine} with a command in its counts, which the server tells only with the machine */
export function counted(machine, { outcome, accepted_at, inputs: several }) {
  if (outcome === "pending" || !machine.inputs) return machine;
  const name = outcome === "completed" ? "completed" : "failed";
  const inputs = { ...machine.inputs, [name]: machine.inputs[name] + several };
  return { ...machine, inputs, last_input_at: accepted_at };
}

/** A list that begins with what the server remembers and goes on with what it tells. */
class Commands extends Reading {
  items = /** @type {CommandItem[]} */ ([]);
  /** How many there are; negative until they are read. */
  total = -1;

  constructor(/** @type {Watched & {machineId: string}} */ { machineId, ...page }) {
    super(page);
    this.address = query(path`v1/machines/${machineId}/commands`, { limit: SHOWN });
    page.events.on("command", ({ detail }) => {
      if (detail.machine_id === machineId) this.hear(detail.command_id, () => this.#take(detail));
    }, page.signal);
  }

  /** @override */ async load() {
    const { items, total } = /** @type {Part<CommandItem>} */ (await get(this.address, this.loading));
    Object.assign(this, { items, total });
  }

  #take(/** @type {CommandItem} */ command) {
    const others = this.items.filter(({ command_id }) => command_id !== command.command_id);
    if (this.total >= 0 && others.length === this.items.length) this.total += 1;
    this.items = [command, ...others].toSorted((one, other) => (one.accepted_at < other.accepted_at ? 1 : -1)).slice(0, SHOWN);
  }
}
