/** One machine: its live screen, hands on it, its recent commands, and what it is. */

import { call, HOME, path, sentence, statusOf } from "../server/api.js";
import { backTo } from "../parts/address.js";
import { Asking } from "../control/asking.js";
import { CommandList, counted } from "./commands.js";
import { ControlBar } from "../control/control_bar.js";
import { fill, h, pause, setAttribute, setText } from "../parts/dom.js";
import { html, render } from "../parts/elements.js";
import { Marks } from "../screen/marks.js";
import {
  commandLine,
  failure,
  notFound,
  setTime,
  stateBadge,
  timeAgo,
  whileBusy,
} from "../parts/old_pieces.js";
import { Screen } from "../screen/screen.js";
import { Touchpad } from "../control/touchpad.js";
import { Viewing } from "../screen/viewing.js";
import { displays, number, span, whyOf } from "../parts/words.js";

const READ_SECONDS = 30;
const TRIES = 3;
const AGAIN_MILLISECONDS = 3000;

/** @param {Page} page */
export function machinePage({ signal, events, me, id, title }) {
  const page = h("section", { class: "machine" }, h("p", { class: "empty" }, "Reading the machine…"));
  const address = path`/v1/machines/${id}`;
  /** @type {MachineView | null} */
  let view = null;
  let heard = 0;
  let readsSoon = false;

  /** Read the machine; again where something was heard of it meanwhile, which is newer. */
  async function read() {
    try {
      for (let left = TRIES; left > 0; left -= 1) {
        const before = heard;
        /** @type {Answer<Machine>} */
        const { data } = await call("GET", address, { signal });
        if (before === heard || left === 1) {
          take(data);
          return;
        }
      }
    } catch (error) {
      const status = statusOf(error);
      if (signal.aborted || status === 401) return;
      if (status === 404 || status === 422) {
        gone();
        return;
      }
      if (!view && !page.querySelector("[role=alert]")) fill(page, failure(error, read));
      if (status !== 403) void readSoon();
    }
  }

  /** What is shown is no longer true, or nothing is: read it as soon as that can be. */
  async function readSoon() {
    if (readsSoon) return;
    readsSoon = true;
    await pause(AGAIN_MILLISECONDS, signal);
    readsSoon = false;
    if (!signal.aborted) void read();
  }

  /** @param {Machine} machine */
  function take(machine) {
    if (!view) {
      view = new MachineView({ machine, address, events, me, signal, read });
      fill(page, view.element);
    }
    title(machine.name);
    view.update(machine);
  }

  function gone() {
    view?.close();
    view = null;
    title("Not found");
    fill(page, notFound("machine", "#/machines", "the machines"));
  }

  /** @type {Listen} */
  const listen = (type, take_) => events.on(type, take_, signal);
  listen("reset", () => void read());
  listen("machine", ({ detail }) => {
    if (detail.id !== id) return;
    heard += 1;
    take(detail);
  });
  listen("machine_removed", ({ detail }) => detail.id === id && gone());
  listen("control_requested", ({ detail }) => detail.id === id && view?.asking.hear(detail));
  listen("command", ({ detail }) => {
    if (detail.machine_id !== id || !view) return;
    heard += 1;
    view.mark(detail);
    view.update(counted(view.machine, detail));
  });
  // Nobody tells how long the way to the machine takes.
  const reading = setInterval(() => document.hidden || read(), READ_SECONDS * 1000);
  signal.addEventListener("abort", () => clearInterval(reading));
  void read();
  return page;
}

/** The parts of the page, and what changes in them. */
class MachineView {
  #closing = new AbortController();
  name = h("h1");
  badge = h("span");
  reason = h("span", { class: "why" });
  since = timeAgo(null);
  renaming = h("button", { type: "button", click: () => this.#rename() }, "Rename");
  pausing = h("button", { type: "button", click: () => this.#pause() });
  canvas = h("canvas", { tabindex: "0", width: 1280, height: 800, role: "img" });
  veil = h("div", { class: "veil", role: "status" });
  /** Has the keyboard while one is in control: input methods write into fields alone. */
  typing = h("textarea", {
    class: "typing",
    "aria-label": "Keyboard of the machine",
    inputmode: "none",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    tabindex: "-1",
    rows: 1,
  });
  stage = h("div", { class: "stage" }, this.canvas, this.typing, this.veil);
  inControl = false;
  caption = h("p", { class: "caption small" });
  facts = h("dl", { class: "facts" });

  /** @param {ViewParts & Pick<Page, "events"> & {machine: Machine}} parts */
  constructor({ machine, address, events, me, signal, read }) {
    this.machine = machine;
    this.address = address;
    this.read = read;
    this.signal = AbortSignal.any([signal, this.#closing.signal]);
    this.mayChange = me.scopes.includes("machines:write");
    this.commands = h("div");
    render(html`<${CommandList} machineId=${machine.id} events=${events} me=${me} />`, this.commands);
    this.signal.addEventListener("abort", () => render(null, this.commands));
    this.heading = h("div", { class: "head" }, this.#titleRow());
    this.screen = new Screen(this.canvas, this.stage, machine.id, this.#seen, this.signal);
    this.marks = new Marks(this.screen);
    this.touchpad = new Touchpad(this.screen, machine.id, (part) => this.viewing.zoom.reveal(part));
    this.asking = new Asking(machine.id, me.scopes, this.signal);
    // What is said above the picture has its place before it is said: a picture that moves takes
    // the next click elsewhere.
    this.stage.append(this.marks.element, this.touchpad.pointer, this.asking.told);
    this.viewing = new Viewing(
      this.screen,
      () => this.inControl,
      () => this.touchpad.draw(),
      this.signal,
    );
    this.control = new ControlBar({
      machine,
      scopes: me.scopes,
      surface: this.canvas,
      typing: this.typing,
      placeOf: (event, clamped) => this.screen.placeOf(event, clamped),
      touchpad: this.touchpad,
      changed: (inControl) => this.#showControl(inControl),
      read,
      signal: this.signal,
    });
    this.element = this.#element();
  }

  close() {
    this.#closing.abort();
  }

  /**
   * Show where somebody else has clicked.
   * @param {CommandEvent} command
   */
  mark(command) {
    if (!this.inControl) this.marks.take(command);
  }

  #element() {
    const { asking, control } = this;
    control.element.append(asking.button);
    return h(
      "div",
      {},
      h("p", { class: "crumbs" }, h("a", { href: backTo("/machines") }, "‹ Machines")),
      this.heading,
      h(
        "div",
        { class: "split" },
        h(
          "div",
          { class: "work" },
          control.element,
          this.stage,
          control.outcome,
          control.keypad,
          h("div", { class: "row" }, this.caption, this.viewing.element),
        ),
        h(
          "aside",
          {},
          h("h2", {}, "About"),
          this.facts,
          h("h2", {}, "Recent commands"),
          this.commands,
        ),
      ),
    );
  }

  #titleRow() {
    return [
      this.name,
      h("p", { class: "lead" }, this.badge, " ", this.reason, " ", this.since),
      h("span", { class: "row" }, this.mayChange && this.renaming, this.mayChange && this.pausing),
    ];
  }

  /** @param {Machine} machine */
  update(machine) {
    const before = this.machine;
    this.machine = machine;
    setText(this.name, machine.name);
    setAttribute(this.name, "title", machine.name);
    setAttribute(this.canvas, "aria-label", `Screen of ${machine.name}`);
    if (this.badge.dataset.shown !== machine.state) {
      this.badge.dataset.shown = machine.state;
      fill(this.badge, stateBadge(machine.state));
    }
    setText(this.reason, sentence(whyOf(machine)));
    setAttribute(this.reason, "title", this.reason.textContent);
    setTime(this.since, machine.since);
    setText(this.pausing, machine.paused ? "Resume" : "Pause");
    this.#describe();
    this.control.update(machine);
    this.viewing.update(machine.displays);
    this.asking.update(machine.control, this.inControl);
    const hasCome = machine.screen?.available && !before.screen?.available;
    if (before.state !== machine.state || hasCome) this.screen.again();
  }

  #describe() {
    const { machine } = this;
    const facts = {
      Id: machine.id,
      Platform: machine.platform ?? "–",
      Desktop: machine.desktop ?? "–",
      Version: machine.client_version ?? "–",
      Displays: displays(machine.displays),
      Node: machine.node ?? "–",
      "Watched by": machine.viewers?.length ? machine.viewers.join(", ") : "–",
      "Round trip": span(machine.round_trip_ms),
      Inputs: machine.inputs
        ? `${number(machine.inputs.completed)} completed, ${number(machine.inputs.failed)} failed`
        : "–",
    };
    const text = JSON.stringify([facts, machine.last_input_at, machine.created_at]);
    if (this.facts.dataset.shown === text) return;
    this.facts.dataset.shown = text;
    const rows = Object.entries(facts).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
    fill(
      this.facts,
      rows,
      [h("dt", {}, "Last input"), h("dd", {}, timeAgo(machine.last_input_at))],
      [h("dt", {}, "Added"), h("dd", {}, timeAgo(machine.created_at))],
    );
  }

  /** @type {(state: string, words: string) => void} */
  #seen = (state, words) => {
    this.stage.dataset.state = state;
    this.touchpad.draw();
    if (state === "live") {
      if (this.veil.firstChild) this.veil.replaceChildren();
      setText(this.caption, "Live. The picture changes when the screen does.");
    } else {
      setText(this.caption, "");
      const { machine } = this;
      const never = machine.state === "offline" && machine.client_version === null;
      fill(this.veil, never ? joinAdvice() : h("p", {}, words || "Asking for the screen…"));
    }
    this.control.see(state === "live" || state === "doubt");
  };

  /** @param {boolean} inControl */
  #showControl(inControl) {
    this.inControl = inControl;
    this.asking.update(this.machine.control, inControl);
    this.element.classList.toggle("in-control", inControl);
    setAttribute(this.canvas, "role", inControl ? "application" : "img");
  }

  async #pause() {
    const body = { paused: !this.machine.paused };
    await whileBusy(this.pausing, async () => {
      await call("PATCH", this.address, { body });
      await this.read();
    });
  }

  #rename() {
    const field = h("input", { type: "text", maxlength: 200, required: true, "aria-label": "New name" });
    field.value = this.machine.name;
    const save = h("button", { class: "primary" }, "Save");
    const back = () => {
      fill(this.heading, this.#titleRow());
      this.update(this.machine);
      this.renaming.focus({ preventScroll: true });
    };
    /** @param {Event} event */
    const submit = async (event) => {
      event.preventDefault();
      const body = { name: field.value.trim() };
      await whileBusy(save, async () => {
        await call("PATCH", this.address, { body });
        back();
        await this.read();
      });
    };
    const cancel = h("button", { type: "button", click: back }, "Cancel");
    /** @param {KeyboardEvent} event */
    const keydown = (event) => event.key === "Escape" && back();
    fill(this.heading, h("form", { class: "row rename", submit, keydown }, field, save, cancel));
    this.name = h("h1");
    field.select();
  }
}

function joinAdvice() {
  const server = HOME.href.replace(/\/$/, "");
  return h(
    "div",
    { class: "empty" },
    h("h2", {}, "This machine has never connected"),
    h("p", {}, "On the desktop, with the token that farhand machine add has printed:"),
    commandLine(`farhand-machine join --server ${server} --token TOKEN`),
    h("p", {}, "farhand-machine doctor says what is in the way, if it does not."),
  );
}
