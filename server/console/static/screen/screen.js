/** A machine's live screen: pictures from the server's stream, drawn to a canvas as they come. */

import { nameOf, path, query, request, statusOf, wordsOf } from "../server/api.js";
import { Store } from "../parts/elements.js";
import { pause } from "../parts/waiting.js";
import { decoded, partsOf, valueIn } from "./pictures.js";

/** A screen that does not change says every two seconds that it does not. */
const DOUBT_SECONDS = 5;
/** The server itself may take 15 seconds to say that there is no picture. */
const SILENCE_SECONDS = 25;
const LISTENED_MILLISECONDS = 250;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const STOPPED = "The picture has stopped; asking for it again…";
const DOUBT = `Nothing has come from the server for ${DOUBT_SECONDS} seconds: this picture may be old.`;
const STEP = 160;
const MAX_WIDTH = 2560;
const RATE = 10;
/** How near to its edge the pointer draws the picture. */
const MARGIN = 40;

/** Draws to a canvas while somebody can see it. */
export class Screen extends Store {
  /**
   * How it goes: "waiting" before the first picture, "live", "doubt" (in words) while nothing comes any more,
   * "away" (with the reason) while there is none.
   */
  state = "waiting";
  words = "";
  /** @type {Region | null} the part of the desktop that is shown, in the coordinates of inputs */
  region = null;
  /** @type {View} */
  #view = { display: null, scale: 1, isActual: false };
  /** How much wider everything is than what is shown. */
  #excess = 1;
  #running = /** @type {AbortController | null} */ (null);
  /** How wide the picture was asked for. */
  #width = 0;

  constructor(/** @type {{machineId: string, signal: AbortSignal}} */ { machineId, signal }) {
    super();
    this.machineId = machineId;
    this.signal = signal;
    /** @type {HTMLElement} what the picture is in, and scrolls */
    this.stage = document.createElement("div");
    this.canvas = document.createElement("canvas");
    document.addEventListener("visibilitychange", this.look, { signal });
    signal.addEventListener("abort", () => this.#stop());
  }

  /** @type {(stage: HTMLElement, canvas: HTMLCanvasElement) => void} draw there, from now on */
  attach(stage, canvas) {
    this.stage = stage;
    this.canvas = canvas;
    const watch = new ResizeObserver(() => this.#resized());
    watch.observe(stage);
    this.signal.addEventListener("abort", () => watch.disconnect());
  }

  /** Start or stop, as somebody looks or not. */
  look = () => {
    if (document.hidden || this.signal.aborted) {
      this.#stop();
      this.region = null; // What is drawn by now will be old: nobody should click on that.
    }
    // Without a size there is no place for a picture yet: the first one is told soon.
    else if (!this.#running && this.stage.clientWidth) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
  };

  /** Try again at once, for what has just come back. */
  again() {
    if (this.#running && !this.region) this.#restart();
  }

  /** @param {View} view how it is looked at from now on */
  see(view) {
    const { display, isActual } = this.#view;
    this.#view = view;
    if (view.display === display && view.isActual === isActual) this.#resized();
    else {
      this.#excess = 1;
      this.region = null; // Nobody should click on a picture that is about to be another.
      if (this.#running) this.#restart();
    }
  }

  /** @param {MouseEvent} event over the place on the desktop that this is; null beside the picture, unless clamped */
  placeOf(event, clamped = false) {
    const { region } = this;
    if (!region) return null;
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    const y = (event.clientY - box.top) / box.height;
    if (!clamped && (x < 0 || x >= 1 || y < 0 || y >= 1)) return null;
    const within = (/** @type {number} */ part, /** @type {number} */ size) =>
      Math.min(Math.max(Math.floor(part * size), 0), size - 1);
    return { x: region.x + within(x, region.width), y: region.y + within(y, region.height) };
  }

  /** @param {Place} place on the desktop: where on the picture, in parts of its size; null beside it */
  partOf({ x, y }) {
    if (!this.region) return null;
    const part = { x: (x + 0.5 - this.region.x) / this.region.width, y: (y + 0.5 - this.region.y) / this.region.height };
    return part.x >= 0 && part.x < 1 && part.y >= 0 && part.y < 1 ? part : null;
  }

  /** @param {Place} place on the desktop that comes into sight, where the picture is larger than its stage */
  reveal(place) {
    const part = this.partOf(place);
    if (!part) return;
    const [box, frame] = [this.canvas.getBoundingClientRect(), this.stage.getBoundingClientRect()];
    const right = beyond(box.left - frame.left + part.x * box.width, frame.width);
    this.stage.scrollBy(right, beyond(box.top - frame.top + part.y * box.height, frame.height));
  }

  /** Whether there is a picture. */
  get shows() {
    return ["live", "doubt"].includes(this.state);
  }

  #say(state = "", words = "") {
    Object.assign(this, { state, words });
    this.tellNow();
  }

  #stop() {
    this.#running?.abort();
    this.#running = null;
  }

  #restart() {
    this.#stop();
    this.look();
  }

  #resized() {
    if (!this.#running) this.look();
    // Another size of the window is another picture; a scroll bar more or less is not.
    else if (!this.#view.isActual && Math.abs(this.#wanted() - this.#width) > STEP) this.#restart();
  }

  #wanted() {
    const width = this.stage.clientWidth * Math.min(devicePixelRatio, 2) * this.#excess * this.#view.scale;
    return Math.min(Math.max(Math.ceil(width / STEP) * STEP, 2 * STEP), MAX_WIDTH);
  }

  async #run(/** @type {AbortSignal} */ signal) {
    if (!this.region) this.#say("waiting");
    for (let wait = SHORTEST_WAIT; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      const error = await this.#show(signal).catch((/** @type {unknown} */ reason) => reason);
      const status = statusOf(error);
      if (signal.aborted || status === 401) return;
      // What the browser itself says of a connection that ended is not for people.
      const own = !error || error instanceof TypeError || nameOf(error) === "AbortError";
      this.#say("away", own ? STOPPED : wordsOf(error));
      if (status === 403 || status === 404) return;
      if (this.region) wait = SHORTEST_WAIT;
      this.region = null;
      await pause(wait, signal);
    }
  }

  /** @param {AbortSignal} signal that ends the stream, which may also end itself */
  async #show(signal) {
    this.#width = this.#wanted();
    const address = path`/v1/computer/${this.machineId}/display/stream`;
    const wanted = this.#view.isActual ? { rate: RATE } : { width: this.#width, rate: RATE };
    const silent = new AbortController();
    let heardAt = performance.now();
    let isDoubtful = false;
    const listening = setInterval(() => {
      const seconds = (performance.now() - heardAt) / 1000;
      if (seconds >= SILENCE_SECONDS) silent.abort();
      // Where nothing is shown, that is said already.
      if (!this.region || isDoubtful === seconds >= DOUBT_SECONDS) return;
      isDoubtful = !isDoubtful;
      this.#say(isDoubtful ? "doubt" : "live", isDoubtful ? DOUBT : "");
    }, LISTENED_MILLISECONDS);
    const heard = () => {
      heardAt = performance.now();
    };
    try {
      const either = AbortSignal.any([signal, silent.signal]);
      const response = await request("GET", query(address, wanted), { signal: either });
      for await (const { head, bytes } of partsOf(response, heard)) {
        const picture = await decoded(bytes);
        if (signal.aborted) return;
        this.#draw(picture, regionOf(valueIn(head, "Farhand-Screen-Region")));
        this.#say("live");
      }
    } finally {
      clearInterval(listening);
    }
  }

  #draw(/** @type {ImageBitmap} */ picture, /** @type {Region | null} */ all) {
    const { canvas } = this;
    const { display } = this.#view;
    const whole = all ?? { x: 0, y: 0, width: picture.width, height: picture.height };
    const shown = display && contains(whole, display) ? display : whole;
    const scale = picture.width / whole.width;
    // In the picture's own pixels.
    const [x, y] = [(shown.x - whole.x) * scale, (shown.y - whole.y) * scale];
    const [width, height] = [Math.round(shown.width * scale), Math.round(shown.height * scale)];
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
      this.stage.style.setProperty("--ratio", String(width / height));
    }
    canvas.getContext("2d", { alpha: false })?.drawImage(picture, x, y, width, height, 0, 0, width, height);
    picture.close();
    this.region = all && shown;
    this.#excess = whole.width / shown.width;
    // One display is as fine as all of them were: the next picture is wider.
    this.#resized();
  }
}

function contains(/** @type {Region} */ all, /** @type {Region} */ part) {
  const right = part.x + part.width <= all.x + all.width;
  return part.x >= all.x && part.y >= all.y && right && part.y + part.height <= all.y + all.height;
}

function regionOf(/** @type {string} */ text) {
  const numbers = text.split(",").map(Number);
  const [x = 0, y = 0, width = 0, height = 0] = numbers;
  return numbers.length === 4 && numbers.every(Number.isFinite) && width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** @type {(place: number, room: number) => number} how far from where it is well seen */
function beyond(place, room) {
  const margin = Math.min(MARGIN, room / 4);
  return Math.min(place - margin, 0) + Math.max(place - room + margin, 0);
}
