/** One machine: its live screen, hands on it, its recent commands, and what it is. */

import { MachineControl } from "../control/machine_control.js";
import { RecordButton, RecordedBy, SecretButton } from "../control/recording.js";
import { Outcomes, Panels, ToolBar } from "../control/tool_bar.js";
import { PointerOver } from "../control/touchpad.js";
import { About } from "../fleet/about.js";
import { TroubleList } from "../fleet/trouble.js";
import { AskedHere } from "../help/asked_here.js";
import { backTo } from "../parts/address.js";
import { html, useLayoutEffect, useMade, useRef, useState, useStore, useTitle } from "../parts/elements.js";
import { Dialog, Field, JoinCommand, NotFound, textOf, Toggle, Unread, WorkButton, WorkForm } from "../parts/pieces.js";
import { Reading } from "../parts/reading.js";
import { StateBadge } from "../parts/states.js";
import { Ago } from "../parts/time.js";
import { stateOf, whyOf } from "../parts/words.js";
import { FoundBelow, FoundOver, Inspecting } from "../screen/inspecting.js";
import { Marks, MarksOver } from "../screen/marks.js";
import { Screen } from "../screen/screen.js";
import { Viewing } from "../screen/viewing.js";
import { call, get, isNowhere, path, sentence } from "../server/api.js";
import { CommandList, counted } from "./commands.js";

const READ_SECONDS = 30;
/** From this width on, what a machine is stands beside its picture. */
const ROOMY_PIXELS = 1000;
const LIVE = "Live. The picture changes when the screen does.";

export function MachinePage(/** @type {PageProperties} */ { id, query, ...page }) {
  const desk = useStore(useMade((signal) => new Desk({ id, ...page, signal })));
  useTitle(desk.machine?.name ?? (desk.isGone ? "Not found" : "Machine"));
  if (desk.isGone) return html`<${NotFound} what="machine" back=${backTo("/machines")} name="the machines" />`;
  if (desk.machine && desk.work) return html`<${View} ...${{ desk, machine: desk.machine, work: desk.work, taken: query.get("help") ?? "", ...page }} />`;
  return html`<${Unread} reading=${desk} />`;
}

/** A machine as the server has it and goes on to tell, and what one does on it. */
class Desk extends Reading {
  machine = /** @type {Machine | null} */ (null);
  /** @type {Work | null} made with the machine, and there as long as it is */
  work = null;
  isGone = false;

  constructor(/** @type {Watched & {id: string}} */ { id, ...page }) {
    const closing = new AbortController();
    const signal = AbortSignal.any([page.signal, closing.signal]);
    super({ ...page, signal });
    this.closing = closing;
    this.me = page.me;
    this.address = path`/v1/machines/${id}`;
    const { events } = page;
    events.on("machine", ({ detail }) => detail.id === id && this.hear("", () => this.#take(detail)), signal);
    events.on("machine_removed", ({ detail }) => detail.id === id && this.#gone(), signal);
    events.on("control_requested", ({ detail }) => detail.id === id && this.work?.control.hear(detail), signal);
    events.on("command", ({ detail }) => detail.machine_id === id && this.#count(detail), signal);
    // Nobody tells how long the way to the machine takes.
    const reading = setInterval(() => document.hidden || this.read(), READ_SECONDS * 1000);
    signal.addEventListener("abort", () => clearInterval(reading));
  }

  /** @override */ async load() {
    try {
      this.#take(/** @type {Machine} */ (await get(this.address, this.loading)));
    } catch (error) {
      if (!isNowhere(error)) throw error;
      this.#gone();
    }
  }

  #count(/** @type {CommandEvent} */ command) {
    if (!this.machine) return;
    if (!this.work?.control.inControl) this.work?.marks.take(command);
    this.#take(counted(this.machine, command));
  }

  #take(/** @type {Machine} */ machine) {
    const { machine: before, me, read, signal } = this;
    this.machine = machine;
    this.work ??= new Work({ machine, me, read, signal });
    this.work.update(machine, before);
    this.tell();
  }

  #gone() {
    this.closing.abort();
    this.isGone = true;
    this.tell();
  }

  change = async (/** @type {object} */ body) => {
    await call("PATCH", this.address, { body });
    await this.read();
  };
}

/** The screen of a machine, how it is looked at, and control. */
class Work {
  /** @param {{machine: Machine, me: Session, read: () => Promise<void>, signal: AbortSignal}} desk */
  constructor({ machine, me, read, signal }) {
    this.screen = new Screen({ machineId: machine.id, signal });
    this.marks = new Marks(this.screen);
    this.inspecting = new Inspecting({ machineId: machine.id, screen: this.screen });
    this.viewing = new Viewing({ screen: this.screen, isInControl: () => this.control.inControl });
    this.control = new MachineControl({ machine, scopes: me.scopes, screen: this.screen, read });
  }

  update(/** @type {Machine} */ machine, /** @type {Machine | null} */ before) {
    this.control.update(machine);
    this.viewing.update(machine.displays);
    const hasCome = machine.screen?.available && !before?.screen?.available;
    const isOpen = before?.control?.private && !machine.control?.private;
    if (before && (before.state !== machine.state || hasCome || isOpen)) this.screen.again();
  }
}

/** @param {MachineViewProperties & {desk: Desk, work: Work}} properties */
function View({ desk, machine, work, me, events, helps, taken }) {
  const [isOpen, open] = useState(innerWidth >= ROOMY_PIXELS);
  const { inControl } = useStore(work.control);
  const { state } = useStore(work.screen);
  const { inspecting } = work;
  const { isOn } = useStore(inspecting);
  const mayInspect = !inControl && machine.elements?.available;
  return html`<section class=${inControl ? "machine in-control" : "machine"}>
    <div class="head"><${Title} desk=${desk} machine=${machine} mayChange=${me.scopes.includes("machines:write")} /></div>
    <div class="split" data-drawer=${isOpen}>
      <div class="work">
        <${ToolBar} control=${work.control} viewing=${work.viewing}>
          ${mayInspect && html`<${Toggle} isOn=${isOn} class="for-mouse for-wide" click=${inspecting.toggle}>Elements<//>`}
          <${RecordButton} ...${{ machine, me, events, read: desk.read }} />
          <${SecretButton} ...${{ machine, me, read: desk.read }} />
          <${Toggle} opens isOn=${isOpen} class="for-wide" click=${() => open(!isOpen)}>Details<//>
        <//>
        <${Stage} machine=${machine} work=${work} />
        <${AskedHere} ...${{ helps, machine, control: work.control, mayAnswer: me.scopes.includes("help:answer"), taken }} />
        ${isOn && mayInspect ? html`<${FoundBelow} inspecting=${inspecting} />` : html`<${Outcomes} control=${work.control} caption=${state === "live" ? LIVE : ""} />`}
        <${Panels} control=${work.control} />
      </div>
      ${(isOpen || innerWidth < ROOMY_PIXELS) && html`<aside class="drawer">
        <h2>About</h2>
        <${About} machine=${machine} read=${desk.read} events=${events} me=${me} />
        <h2>Trouble in 30 days</h2>
        <${TroubleList} machineId=${machine.id} events=${events} me=${me} />
        <h2>Recent commands</h2>
        <${CommandList} machineId=${machine.id} events=${events} me=${me} />
      </aside>`}
    </div>
  </section>`;
}

function Title(/** @type {{desk: Desk, machine: Machine, mayChange: boolean}} */ { desk, machine, mayChange }) {
  const [doing, begin] = useState("");
  const why = sentence(whyOf(machine));
  if (doing === "rename") return html`<${Rename} desk=${desk} name=${machine.name} close=${() => begin("")} />`;
  const pausing = machine.paused
    ? html`<${WorkButton} work=${() => desk.change({ paused: false })}>Resume<//>`
    : html`<button type="button" onClick=${() => begin("pause")}>Pause</button>`;
  return html`
    <a class="crumbs" href=${backTo("/machines")}>‹ Machines</a>
    <h1 title=${machine.name} dir="auto">${machine.name}</h1>
    <p class="lead"><${StateBadge} state=${stateOf(machine)} /> <span class="why" title=${why}>${why}</span> <${Ago} time=${machine.since} /> <${RecordedBy} machine=${machine} /></p>
    ${mayChange && html`<span class="row"><button type="button" onClick=${() => begin("rename")}>Rename</button>${pausing}</span>`}
    ${doing === "pause" && html`<${Pause} desk=${desk} close=${() => begin("")} />`}
  `;
}

function Rename(/** @type {{desk: Desk, name: string, close: () => void}} */ { desk, name, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.select(), []);
  const save = async (/** @type {FormData} */ values) => {
    await desk.change({ name: textOf(values, "name") });
    close();
  };
  return html`<${WorkForm} class="row rename" submit=${save} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && close()}>
    <input ref=${field} name="name" maxlength="200" required aria-label="New name" dir="auto" defaultValue=${name} />
    <button class="primary">Save</button>
    <button type="button" onClick=${close}>Cancel</button>
  <//>`;
}

/** @param {{desk: Desk, close: () => void}} properties of the question why, and until when: others will ask */
function Pause({ desk, close }) {
  const submit = async (/** @type {FormData} */ values) => {
    const end = textOf(values, "until");
    await desk.change({
      paused: true,
      pause_reason: textOf(values, "reason") || null,
      pause_until: end ? new Date(end).toISOString() : null,
    });
    close();
  };
  return html`<${Dialog} title="Pause the machine" submit=${submit} close=${close}>
    <p>Until it is resumed, only somebody in control can send it input.</p>
    <${Field} label="Reason"><input name="reason" maxlength="200" placeholder="such as: the printer is being changed" /><//>
    <${Field} label="Until (optional; otherwise until somebody resumes it)"><input name="until" type="datetime-local" /><//>
    <div class="row"><button class="primary">Pause</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

function Stage(/** @type {{machine: Machine, work: Work}} */ { machine, work }) {
  const { control, screen, viewing, marks, inspecting } = work;
  const { state, words } = useStore(screen);
  const { asking, inControl } = useStore(control);
  const stage = useRef(document.body);
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const typing = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  useLayoutEffect(() => {
    if (!canvas.current || !typing.current) return;
    screen.attach(stage.current, canvas.current);
    viewing.attach();
    inspecting.attach();
    control.typing = typing.current;
  }, []);
  return html`<div class="screen" data-state=${state}>
    <div class="stage" ref=${stage}>
      <div class="picture">
        <canvas tabindex="0" width="1280" height="800" role=${inControl ? "application" : "img"} aria-label="Screen of ${machine.name}" ref=${canvas}></canvas>
        <${MarksOver} marks=${marks} />
        ${!inControl && html`<${FoundOver} inspecting=${inspecting} />`}
        <${PointerOver} touchpad=${control.touchpad} />
      </div>
    </div>
    <textarea
      class="typing" aria-label="Keyboard of the machine" inputmode="none" autocomplete="off" autocapitalize="off"
      spellcheck="false" tabindex="-1" rows="1" ref=${typing}
    ></textarea>
    <div class="veil" role="status">${state !== "live" && (stateOf(machine) === "not_set_up" ? html`<${JoinAdvice} />` : html`<p>${words || "Asking for the screen…"}</p>`)}</div>
    <p class="asking" role="status">${asking}</p>
  </div>`;
}

const JoinAdvice = () => html`<div class="empty">
  <h2>This machine has never connected</h2>
  <p>On the desktop, with the token that farhand machine add has printed:</p>
  <${JoinCommand} />
  <p>farhand-machine doctor says what is in the way, if it does not.</p>
</div>`;
