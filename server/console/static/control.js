/** Hands on the picture: pointer, wheel and keyboard become inputs at the place that is shown. */

import { meaningOf } from "./keys.js";

const DRAG_PIXELS = 5;
const AGAIN_MILLISECONDS = 220;
const LONG_PRESS_MILLISECONDS = 600;
const PIXELS_OF_A_NOTCH = 100;
const LINES_OF_A_NOTCH = 3;
const MAX_NOTCHES = 20;
/** @type {Button[]} */
const BUTTONS = ["left", "middle", "right"];

/**
 * Listens to `surface` until the signal is aborted.  `placeOf(event)` is the place on the machine
 * under the pointer or null; `inputs` takes what is done; `leave()` is called for Escape.
 * @param {Hands} hands
 */
export function takeControl({ surface, placeOf, inputs, leave, signal }) {
  const clicks = new Clicks(inputs, signal);
  const options = { signal, passive: false };
  /**
   * @template {keyof HTMLElementEventMap} Name
   * @param {Name} type
   * @param {(event: HTMLElementEventMap[Name]) => unknown} take
   */
  const on = (type, take) => surface.addEventListener(type, take, options);
  /** @type {Down | null} */
  let down = null;
  let turned = 0;

  on("contextmenu", (event) => event.preventDefault());
  on("auxclick", (event) => event.preventDefault());
  on("dragstart", (event) => event.preventDefault());

  on("pointerdown", (event) => {
    event.preventDefault();
    surface.focus({ preventScroll: true });
    const place = placeOf(event);
    const button = BUTTONS[event.button];
    if (!place || down || !button) return;
    surface.setPointerCapture(event.pointerId);
    down = {
      place,
      button,
      x: event.clientX,
      y: event.clientY,
      at: event.timeStamp,
      touch: event.pointerType === "touch",
    };
  });

  on("pointerup", (event) => {
    if (!down || BUTTONS[event.button] !== down.button) return;
    const { place, x, y, at, touch } = down;
    const held = event.timeStamp - at;
    const button = touch && held > LONG_PRESS_MILLISECONDS ? "right" : down.button;
    down = null;
    const end = placeOf(event, true);
    if (Math.hypot(event.clientX - x, event.clientY - y) < DRAG_PIXELS) clicks.add(place, button);
    else if (end) {
      clicks.flush();
      inputs.send("mouse/drag", {
        start_x: place.x,
        start_y: place.y,
        to_x: end.x,
        to_y: end.y,
        button: touch ? "left" : button,
        duration: Math.min(Math.max(held / 1000, 0.1), 3),
      });
    }
  });

  on("pointercancel", () => (down = null));

  on("wheel", (event) => {
    event.preventDefault();
    const place = placeOf(event);
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const size = event.deltaMode === 0 ? PIXELS_OF_A_NOTCH : LINES_OF_A_NOTCH;
    turned += (sideways ? event.deltaX : event.deltaY) / size;
    const notches = Math.trunc(turned);
    if (!place || !notches) return;
    turned -= notches;
    clicks.flush();
    const forward = notches > 0;
    inputs.send("mouse/scroll", {
      direction: sideways ? (forward ? "right" : "left") : forward ? "down" : "up",
      amount: Math.min(Math.abs(notches), MAX_NOTCHES),
      ...place,
    });
  });

  on("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      clicks.flush();
      return leave();
    }
    const meaning = meaningOf(event);
    // Also what is not sent stays here: Tab must not lead away, nor F5 load anew.
    event.preventDefault();
    if (!meaning) return;
    clicks.flush();
    if (meaning.text !== undefined) inputs.send("keyboard/type", { text: meaning.text });
    else inputs.send("keyboard/key", { text: meaning.chord });
  });
}

/**
 * Counts clicks in one place to a single, double or triple one, and sends it once it is clear
 * which: two single ones would be as far apart on the machine as the network makes them.
 */
class Clicks {
  /** @type {InputBodies["mouse/click"] | null} */
  #pending = null;
  #timer = 0;

  /**
   * @param {Sender} inputs
   * @param {AbortSignal} signal
   */
  constructor(inputs, signal) {
    this.inputs = inputs;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** @type {(place: Place, button: Button) => void} */
  add(place, button) {
    const pending = this.#pending;
    const near =
      pending?.button === button &&
      Math.abs(pending.x - place.x) <= DRAG_PIXELS &&
      Math.abs(pending.y - place.y) <= DRAG_PIXELS;
    if (pending && !near) this.flush();
    this.#pending = near ? { ...pending, clicks: pending.clicks + 1 } : { ...place, button, clicks: 1 };
    clearTimeout(this.#timer);
    if (this.#pending.clicks === 3 || button !== "left") this.flush();
    else this.#timer = setTimeout(() => this.flush(), AGAIN_MILLISECONDS);
  }

  /** Send what was clicked, without waiting whether more comes. */
  flush() {
    clearTimeout(this.#timer);
    if (this.#pending) this.inputs.send("mouse/click", this.#pending);
    this.#pending = null;
  }
}
