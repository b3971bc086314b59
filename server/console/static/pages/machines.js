/** All machines in one table: those in trouble first, with the reason and since when. */

import { useChosen } from "../parts/address.js";
import { html, useMade, useStore, useTitle, valueTo } from "../parts/elements.js";
import { Chips } from "../parts/filters.js";
import { CommandLine, EmptyState, Field, JoinCommand, NothingFits, Unread } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { StateBadge } from "../parts/states.js";
import { Table } from "../parts/table.js";
import { Ago } from "../parts/time.js";
import { capital, count, displays, isTrouble, number, span, stateOf, STATES, troubleOf, whyOf } from "../parts/words.js";
import { listAll, path } from "../server/api.js";
import { counted } from "./commands.js";

const ADD = "#/settings/machines";
const COUNTS_MILLISECONDS = 60_000;
const USUAL = { q: "", state: "", sort: "state" };

const NAMES = new Intl.Collator(undefined, { numeric: true });

/** @type {Column<Machine>[]} */
const COLUMNS = [
  { key: "state", label: "State", sorts: "up", cell: (machine) => html`<${StateBadge} state=${stateOf(machine)} />` },
  {
    key: "name", label: "Machine", sorts: "up",
    cell: ({ id, name }) => html`<a href="#${path`/machines/${id}`}" dir="auto">${name}</a>${id !== name && html`<small>${id}</small>`}`,
  },
  { key: "reason", label: "Why", cell: reasonOf, attributes: ({ reason }) => ({ title: reason }) },
  { key: "since", label: "Since", sorts: "down", cell: ({ since }) => html`<${Ago} time=${since} />` },
  { key: "round_trip", label: "Round trip", sorts: "down", numeric: true, cell: ({ round_trip_ms }) => span(round_trip_ms) },
  { key: "display", label: "Display", cell: (machine) => displays(machine.displays) },
  { key: "version", label: "Version", cell: ({ client_version }) => client_version ?? "–", attributes: ({ platform }) => ({ title: platform }) },
  { key: "inputs", label: "Inputs", sorts: "down", numeric: true, cell: ({ inputs }) => number(inputs.completed) },
  {
    key: "failed", label: "Failed", sorts: "down", numeric: true,
    cell: ({ inputs }) => number(inputs.failed), attributes: ({ inputs }) => ({ "data-some": inputs.failed > 0 || null }),
  },
];

/** @type {Order} */
const newest = (one, other) => Date.parse(other.since) - Date.parse(one.since);
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
  inputs: least((one) => one.inputs.completed),
  failed: least((one) => one.inputs.failed),
};

export function MachinesPage(/** @type {PageProperties} */ page) {
  useTitle("Machines");
  const reading = useStore(useMade((signal) => new Machines({ ...page, signal })));
  const { machines } = reading;
  const [chosen, choose] = useChosen("/machines", USUAL);
  const mayAdd = page.me.scopes.includes("pools:write");
  const clear = () => choose({ q: "", state: "" });
  if (!machines) return html`<${Head} ...${{ chosen, choose, mayAdd }}><${Unread} reading=${reading} /><//>`;
  if (!machines.size) return html`<section><h1>Machines</h1><${FirstMachine} mayAdd=${mayAdd} /></section>`;
  const named = [...machines.values()].filter(hasAll(chosen.q));
  const found = named.filter((machine) => !chosen.state || stateOf(machine) === chosen.state).toSorted(orderOf(chosen.sort));
  const all = found.length === machines.size;
  return html`<${Head} ...${{ chosen, choose, mayAdd }}>
    <${Chips} label="Show only" chips=${chipsOf(named, chosen.state)} chosen=${chosen.state} choose=${(/** @type {string} */ state) => choose({ state })} />
    ${found.length
      ? html`<${Table}
          name="machines" label="Machines" columns=${COLUMNS} items=${found}
          row=${(/** @type {Machine} */ machine) => ({ "data-state": stateOf(machine) })}
          order=${chosen.sort} sort=${(/** @type {string} */ sort) => choose({ sort })} chosen=${chosen.q + chosen.state}
        />`
      : html`<${NothingFits} what="machine" clear=${clear} />`}
    <p class="small" role="status">${all ? count(machines.size, "machine") : `${found.length} of ${count(machines.size, "machine")}`}</p>
  <//>`;
}

/** @param {{chosen: typeof USUAL, choose: (change: Partial<typeof USUAL>) => void, mayAdd: boolean, children: unknown}} properties */
const Head = ({ chosen, choose, mayAdd, children }) => html`<section>
  <div class="head">
    <h1>Machines</h1>
    ${mayAdd && html`<a class="add" href=${ADD}>Add machines</a>`}
    <${Field} label="Filter" inline><input
      type="search" placeholder="Name, id, reason…" value=${chosen.q} onInput=${valueTo((q) => choose({ q }))}
    /><//>
  </div>
  ${children}
</section>`;

function reasonOf(/** @type {Machine} */ machine) {
  const { control, viewers } = machine;
  return html`<span>${capital(whyOf(machine))}</span>
    ${control && html` <small class="holder">${control.by} has control, taken <${Ago} time=${control.since} /></small>`}
    ${viewers.length > 0 && html` <small>Watched by ${viewers.join(", ")}.</small>`}`;
}

/** @type {(sort: string) => Order} */
function orderOf(sort) {
  const order = ORDERS[sort.replace(/^-/, "")] ?? byName;
  const turn = sort.startsWith("-") ? -1 : 1;
  return (one, other) => turn * order(one, other) || byName(one, other);
}

/** @type {(text: string) => (machine: Machine) => boolean} whether every word is somewhere in what is shown of it */
function hasAll(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (machine) => {
    const { name, id, reason, platform, client_version, control, viewers } = machine;
    const shown = [name, id, reason, platform, client_version, control?.by, ...viewers, STATES[stateOf(machine)]?.word];
    const all = shown.join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

function chipsOf(/** @type {Machine[]} */ machines, /** @type {string} */ chosen) {
  const groups = Map.groupBy(machines, (machine) => String(stateOf(machine)));
  const states = new Set([...Object.keys(STATES), ...groups.keys(), chosen]);
  const each = [...states].filter(Boolean).map((value) => ({ value, word: STATES[value]?.word ?? value, count: groups.get(value)?.length ?? 0 }));
  return [{ value: "", word: "All", count: machines.length }, ...each];
}

/** All machines, as the server has them and goes on to tell. */
class Machines extends Reading {
  /** @type {Map<string, Machine> | null} until they are read */
  machines = null;

  constructor(/** @type {Watched} */ page) {
    super(page);
    const { events, signal } = page;
    events.on("machine", ({ detail }) => this.hear(detail.id, () => this.machines?.set(detail.id, detail)), signal);
    events.on("machine_removed", ({ detail: { id } }) => this.hear(id, () => this.machines?.delete(id)), signal);
    events.on("command", ({ detail }) => this.#count(detail), signal);
  }

  /** @override */ async load() {
    /** @type {Machine[]} */
    const all = await listAll("v1/machines", this.loading);
    this.machines = new Map(all.map((machine) => [machine.id, machine]));
  }

  #count(/** @type {CommandEvent} */ command) {
    const machine = this.machines?.get(command.machine_id);
    if (!machine) return;
    this.machines?.set(machine.id, counted(machine, command));
    this.tell();
    // What was counted here and on the server at once is put right from time to time.
    this.readIn(COUNTS_MILLISECONDS);
  }
}

/** What to do where there is no machine yet. */
const FirstMachine = (/** @type {{mayAdd: boolean}} */ { mayAdd }) => html`<div class="first-machine">
  <${EmptyState} title="No machine yet">
    <p>A machine is a desktop that takes input from here.</p>
    ${mayAdd && html`<p><a href=${ADD}>Add machines with a code</a></p>`}
    <p>${mayAdd ? "Or add" : "Add"} one on the server; the command prints its token:</p>
    <${CommandLine} text="farhand machine add desk-1" />
    <p>Then, on that desktop, with the token:</p>
    <${JoinCommand} />
    <p>It appears here by itself, within a second.</p>
  <//>
</div>`;
