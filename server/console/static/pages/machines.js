/** All machines in one table: those in trouble first, with the reason and since when. */

import { useChosen } from "../parts/address.js";
import { Chips } from "../parts/chips.js";
import { html, useMade, useStore, useTitle } from "../parts/elements.js";
import { CommandLine, EmptyState, Failure, Field, NothingFits } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { StateBadge } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { count, displays, isTrouble, number, span, stateOf, STATES, troubleOf, whyOf } from "../parts/words.js";
import { capital, HOME, listAll, path } from "../server/api.js";
import { counted } from "./commands.js";

const COUNTS_MILLISECONDS = 60_000;
const USUAL = { q: "", state: "", sort: "state" };

const NAMES = new Intl.Collator(undefined, { numeric: true });

/** @type {Column<Machine>[]} */
const COLUMNS = [
  { key: "state", label: "State", sorts: true, cell: (machine) => html`<${StateBadge} state=${stateOf(machine)} />` },
  { key: "name", label: "Machine", sorts: true, cell: nameOf },
  { key: "reason", label: "Why", cell: reasonOf, attributes: ({ reason }) => ({ title: reason }) },
  { key: "since", label: "Since", sorts: true, falls: true, cell: ({ since }) => html`<${Ago} time=${since} />` },
  { key: "round_trip", label: "Round trip", sorts: true, falls: true, numeric: true, cell: ({ round_trip_ms }) => span(round_trip_ms) },
  { key: "display", label: "Display", cell: (machine) => displays(machine.displays) },
  {
    key: "version",
    label: "Version",
    cell: ({ client_version }) => client_version ?? "–",
    attributes: ({ platform }) => ({ title: platform }),
  },
  { key: "inputs", label: "Inputs", sorts: true, falls: true, numeric: true, cell: ({ inputs }) => number(inputs?.completed) },
  {
    key: "failed",
    label: "Failed",
    sorts: true,
    falls: true,
    numeric: true,
    cell: ({ inputs }) => number(inputs?.failed),
    attributes: ({ inputs }) => ({ "data-some": inputs?.failed > 0 || null }),
  },
];

/** @type {Order} */
const newest = (one, other) => (one.since < other.since ? 1 : one.since > other.since ? -1 : 0);
/** @type {Order} */
const byName = (one, other) => NAMES.compare(one.name, other.name) || (one.id < other.id ? -1 : 1);
/** @type {(value: (machine: Machine) => number | null | undefined) => Order} */
const least = (value) => (one, other) => (value(one) ?? -1) - (value(other) ?? -1);

/** @type {Record<string, Order>} */
const ORDERS = {
  // Trouble first, the latest of it above; the others are by name, so that they stay in their places.
  state: (one, other) => troubleOf(one) - troubleOf(other) || (isTrouble(one) ? newest(one, other) : 0),
  name: byName,
  since: (one, other) => -newest(one, other),
  round_trip: least((one) => one.round_trip_ms),
  inputs: least((one) => one.inputs?.completed),
  failed: least((one) => one.inputs?.failed),
};

/** @param {PageProperties} page */
export function MachinesPage({ events }) {
  useTitle("Machines");
  const { machines, error, read } = useStore(useMade((signal) => new Machines(events, signal)));
  const [chosen, choose] = useChosen("/machines", USUAL);
  const clear = () => choose({ q: "", state: "" });
  if (!machines) return html`<${Head} ...${{ chosen, choose }}>
    ${error ? html`<${Failure} error=${error} again=${read} />` : html`<p class="empty">Reading the machines…</p>`}
  <//>`;
  if (!machines.size) return html`<section><h1>Machines</h1><${FirstMachine} /></section>`;
  const named = [...machines.values()].filter(hasAll(chosen.q));
  const found = named.filter((machine) => !chosen.state || stateOf(machine) === chosen.state).toSorted(orderOf(chosen.sort));
  const all = found.length === machines.size;
  return html`<${Head} ...${{ chosen, choose }}>
    <${Chips} label="Show only" chips=${chipsOf(named, chosen.state)} chosen=${chosen.state} choose=${(/** @type {string} */ state) => choose({ state })} />
    ${found.length
      ? html`<${Table}
          name="machines" label="Machines" columns=${COLUMNS} items=${found} keyOf=${idOf} row=${rowOf}
          order=${chosen.sort} sort=${(/** @type {string} */ sort) => choose({ sort })} chosen=${chosen.q + chosen.state}
        />`
      : html`<${NothingFits} what="machine" clear=${clear} />`}
    <p class="small" role="status">${all ? count(machines.size, "machine") : `${found.length} of ${count(machines.size, "machine")}`}</p>
  <//>`;
}

/** @param {{chosen: typeof USUAL, choose: (change: Partial<typeof USUAL>) => void, children: unknown}} properties */
function Head({ chosen, choose, children }) {
  /** @param {string} id */
  const search = (id) => html`<input
    id=${id} type="search" placeholder="Words of name, id, reason…" value=${chosen.q}
    onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => choose({ q: currentTarget.value })}
  />`;
  return html`<section>
    <div class="head"><h1>Machines</h1><${Field} label="Filter" inline make=${search} /></div>
    ${children}
  </section>`;
}

/** @param {Machine} machine */
const idOf = ({ id }) => id;

/** @param {Machine} machine */
const rowOf = (machine) => ({ "data-state": stateOf(machine) });

/** @param {Machine} machine */
function nameOf({ id, name }) {
  return html`<a href="#${path`/machines/${id}`}" dir="auto">${name}</a>${id === name ? "" : html`<small>${id}</small>`}`;
}

/** @param {Machine} machine */
function reasonOf(machine) {
  const { control, viewers } = machine;
  return html`<span>${capital(whyOf(machine))}</span>
    ${control && html` <small class="holder">${control.by} has control, taken <${Ago} time=${control.since} /></small>`}
    ${viewers?.length > 0 && html` <small>Watched by ${viewers.join(", ")}.</small>`}`;
}

/** @type {(sort: string) => Order} */
function orderOf(sort) {
  const order = ORDERS[sort.replace(/^-/, "")] ?? byName;
  const turn = sort.startsWith("-") ? -1 : 1;
  return (one, other) => turn * order(one, other) || byName(one, other);
}

/**
 * Whether every word is somewhere in what is shown of a machine.
 * @type {(text: string) => (machine: Machine) => boolean}
 */
function hasAll(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (machine) => {
    if (!words.length) return true;
    const { name, id, reason, platform, client_version, control, viewers } = machine;
    const shown = [name, id, reason, platform, client_version, control?.by, ...(viewers ?? []), STATES[stateOf(machine)]?.word];
    const all = shown.join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

/** @type {(machines: Machine[], chosen: string) => Chip[]} */
function chipsOf(machines, chosen) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const machine of machines) counts[stateOf(machine)] = (counts[stateOf(machine)] ?? 0) + 1;
  const states = new Set([...Object.keys(STATES), ...Object.keys(counts), chosen]);
  const each = [...states].filter(Boolean).map((value) => ({ value, word: STATES[value]?.word ?? value, count: counts[value] ?? 0 }));
  return [{ value: "", word: "All", count: machines.length }, ...each];
}

/** All machines, as the server has them and goes on to tell. */
class Machines extends Reading {
  /** @type {Map<string, Machine> | null} until they are read */
  machines = null;
  /** @type {Map<string, Machine | null>} what is said while the list is on its way, which is newer */
  #meanwhile = new Map();

  /**
   * @param {PageProperties["events"]} events
   * @param {AbortSignal} signal
   */
  constructor(events, signal) {
    super(signal);
    events.on("reset", this.read, signal);
    events.on("machine", ({ detail }) => this.#heard(detail.id, detail), signal);
    events.on("machine_removed", ({ detail }) => this.#heard(detail.id, null), signal);
    events.on("command", ({ detail }) => this.#count(detail), signal);
    void this.read();
  }

  /**
   * @override
   * @param {AbortSignal} signal
   */
  async load(signal) {
    this.#meanwhile = new Map();
    /** @type {Machine[]} */
    const all = await listAll("v1/machines", signal);
    this.machines = new Map(all.map((machine) => [machine.id, machine]));
    for (const [id, machine] of this.#meanwhile) this.#apply(id, machine);
  }

  /** @type {(id: string, machine: Machine | null) => void} */
  #heard(id, machine) {
    this.#meanwhile.set(id, machine);
    this.#apply(id, machine);
  }

  /** @type {(id: string, machine: Machine | null) => void} */
  #apply(id, machine) {
    if (machine) this.machines?.set(id, machine);
    else this.machines?.delete(id);
    this.tell();
  }

  /** @param {CommandEvent} command */
  #count(command) {
    const machine = this.machines?.get(command.machine_id);
    if (!machine) return;
    this.#apply(machine.id, counted(machine, command));
    // What was counted here and on the server at once is put right from time to time.
    this.readIn(COUNTS_MILLISECONDS);
  }
}

/** What to do where there is no machine yet. */
function FirstMachine() {
  const server = HOME.href.replace(/\/$/, "");
  return html`<div class="first-machine">
    <${EmptyState} title="No machine yet">
      <p>A machine is a desktop that takes input from here. Add one on the server; the command prints its token:</p>
      <${CommandLine} text="farhand machine add desk-1" />
      <p>Then, on that desktop, with the token:</p>
      <${CommandLine} text=${`farhand-machine join --server ${server} --token TOKEN`} />
      <p>It appears here by itself, within a second.</p>
    <//>
  </div>`;
}
