/** A machine's live screen: pictures from the server's stream, drawn to a canvas as they come. */

import { nameOf, path, query, request, statusOf, wordsOf } from "../server/api.js";
import { pause } from "../parts/waiting.js";
import { decoded, partsOf } from "./pictures.js";

/** A screen that does not change says every two seconds that it does not. */
const DOUBT_SECONDS = 5;
/** The server itself may take 15 seconds to say that there is no picture. */
const SILENCE_SECONDS = 25;
const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const STOPPED = "The picture has stopped; asking for it again…";
const DOUBT = `Nothing has come from the server for ${DOUBT_SECONDS} seconds: this picture may be old.`;
const STEP = 160;
const MAX_WIDTH = 2560;
const RATE = 10;

/**
 * Draws to a canvas while somebody can see it.  `told(state, words)` hears how it goes:
 * "waiting" before the first picture, "live", "doubt" (in words) while nothing comes any more, "away"
 * (with the reason) while there is none.
 * `region` is the part of the desktop that is shown, in the coordinates of inputs, or null.
 */
export class Screen {
  /** @type {Region | null} */
  region = null;
  /**
   * The display that is shown; null is all of them.
   * @type {Region | null}
   */
  #display = null;
  #isActual = false;
  /** How much wider everything is than what is shown. */
  #excess = 1;
  /** @type {AbortController | null} */
  #running = null;
  #width = 0;
  /** How much larger than the stage the picture is looked at. */
  #zoom = 1;
  #isDoubtful = false;

  /**
   * @param {string} machineId
   * @param {(state: string, words: string) => void} told
   * @param {AbortSignal} signal
   */
  constructor(machineId, told, signal) {
    this.machineId = machineId;
    this.told = told;
    this.signal = signal;
    /** @type {HTMLElement} what the picture is in */
    this.stage = document.createElement("div");
    /** @type {HTMLCanvasElement} */
    this.canvas = document.createElement("canvas");
    document.addEventListener("visibilitychange", this.look, { signal });
    signal.addEventListener("abort", () => this.#stop());
  }

  /**
   * Draw there, from now on.
   * @type {(stage: HTMLElement, canvas: HTMLCanvasElement) => void}
   */
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
    else if (!this.#running && this.stage.clientWidth) this.#start();
  };

  /** Try again at once, for what has just come back. */
  again() {
    if (this.#running && !this.region) {
      this.#stop();
      this.look();
    }
  }

  /**
   * Show one display or all (null), pixel by pixel or as large as the stage.
   * @type {(display: Region | null, isActual: boolean) => void}
   */
  see(display, isActual) {
    if (display === this.#display && isActual === this.#isActual) return;
    this.#display = display;
    this.#isActual = isActual;
    this.#excess = 1;
    this.region = null; // Nobody should click on a picture that is about to be another.
    if (!this.#running) return;
    this.#stop();
    this.look();
  }

  /**
   * It is looked at so much larger: where that shows more, ask for more.
   * @param {number} zoom
   */
  enlarge(zoom) {
    this.#zoom = zoom;
    this.#resized();
  }

  /**
   * The place on the desktop under a pointer event; null beside the picture, unless clamped.
   * @param {MouseEvent} event
   */
  placeOf(event, clamped = false) {
    if (!this.region) return null;
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    const y = (event.clientY - box.top) / box.height;
    if (!clamped && (x < 0 || x >= 1 || y < 0 || y >= 1)) return null;
    const { region } = this;
    /** @type {(part: number, size: number) => number} */
    const within = (part, size) => Math.min(Math.max(Math.floor(part * size), 0), size - 1);
    return { x: region.x + within(x, region.width), y: region.y + within(y, region.height) };
  }

  /**
   * Where a place on the desktop is on the canvas, in parts of its size; null beside the picture.
   * @param {Place} place
   */
  partOf({ x, y }) {
    if (!this.region) return null;
    const part = { x: (x + 0.5 - this.region.x) / this.region.width, y: (y + 0.5 - this.region.y) / this.region.height };
    return part.x >= 0 && part.x < 1 && part.y >= 0 && part.y < 1 ? part : null;
  }

  /**
   * Where a place on the desktop is on the stage, in the page's pixels; null beside the picture.
   * @param {Place} place
   */
  onStage(place) {
    const part = this.partOf(place);
    if (!part) return null;
    const { canvas, stage } = this;
    const [box, frame] = [canvas.getBoundingClientRect(), stage.getBoundingClientRect()];
    return {
      x: box.left - frame.left + stage.scrollLeft + part.x * box.width,
      y: box.top - frame.top + stage.scrollTop + part.y * box.height,
    };
  }

  #start() {
    this.#running = new AbortController();
    void this.#run(this.#running.signal);
  }

  #stop() {
    this.#running?.abort();
    this.#running = null;
  }

  #resized() {
    if (!this.#running) {
      this.look();
      return;
    }
    // Another size of the window is another picture; a scroll bar more or less is not.
    if (!this.#isActual && Math.abs(this.#wanted() - this.#width) > STEP) {
      this.#stop();
      this.look();
    }
  }

  #wanted() {
    const width = this.stage.clientWidth * Math.min(devicePixelRatio, 2) * this.#excess * this.#zoom;
    return Math.min(Math.max(Math.ceil(width / STEP) * STEP, 2 * STEP), MAX_WIDTH);
  }

  /** @param {AbortSignal} signal */
  async #run(signal) {
    if (!this.region) this.told("waiting", "");
    for (let wait = SHORTEST_WAIT; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      try {
        if (await this.#show(signal)) wait = SHORTEST_WAIT;
        if (signal.aborted) return;
        this.told("away", STOPPED);
      } catch (error) {
        if (signal.aborted || statusOf(error) === 401) return;
        // What the browser itself says of a connection that ended is not for people.
        const own = error instanceof TypeError || nameOf(error) === "AbortError";
        this.told("away", own ? STOPPED : wordsOf(error));
        if (statusOf(error) === 403 || statusOf(error) === 404) return;
      }
      this.region = null;
      this.#isDoubtful = false;
      await pause(wait, signal);
    }
  }

  /**
   * Read the stream to its end; whether there was a picture.
   * @param {AbortSignal} signal
   */
  async #show(signal) {
    this.#width = this.#wanted();
    const address = path`/v1/computer/${this.machineId}/display/stream`;
    const wanted = this.#isActual ? { rate: RATE } : { width: this.#width, rate: RATE };
    const silent = new AbortController();
    /** @type {number[]} */
    let timers = [];
    const rest = () => {
      for (const timer of timers) clearTimeout(timer);
    };
    const heard = () => {
      rest();
      timers = [
        setTimeout(() => this.#doubt(), DOUBT_SECONDS * 1000),
        setTimeout(() => silent.abort(), SILENCE_SECONDS * 1000),
      ];
      if (this.#isDoubtful) this.#live();
    };
    let any = false;
    try {
      heard();
      const either = AbortSignal.any([signal, silent.signal]);
      const response = await request("GET", query(address, wanted), { signal: either });
      for await (const { headers, bytes } of partsOf(response, heard)) {
        if (signal.aborted) return any;
        await this.#draw(headers, bytes);
        any = true;
        this.#live();
      }
      return any;
    } finally {
      rest();
    }
  }

  #live() {
    this.#isDoubtful = false;
    this.told("live", "");
  }

  /** What is shown may be old; where nothing is shown, that is said already. */
  #doubt() {
    if (!this.region) return;
    this.#isDoubtful = true;
    this.told("doubt", DOUBT);
  }

  /** @type {(headers: Map<string, string>, bytes: Uint8Array<ArrayBuffer>) => Promise<void>} */
  async #draw(headers, bytes) {
    const picture = await decoded(bytes);
    const all = regionOf(headers.get("farhand-screen-region"));
    const shown = all && this.#display && contains(all, this.#display) ? this.#display : all;
    // In the picture's own pixels.
    const scale = all ? picture.width / all.width : 1;
    const width = Math.round(shown ? shown.width * scale : picture.width);
    const height = Math.round(shown ? shown.height * scale : picture.height);
    const x = all && shown ? (shown.x - all.x) * scale : 0;
    const y = all && shown ? (shown.y - all.y) * scale : 0;
    const { canvas } = this;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.setProperty("--ratio", String(width / height));
    }
    canvas.getContext("2d", { alpha: false })?.drawImage(picture, x, y, width, height, 0, 0, width, height);
    picture.close();
    this.region = shown;
    this.#excess = all && shown ? all.width / shown.width : 1;
    // One display is as fine as all of them were: the next picture is wider.
    this.#resized();
  }
}

/** @type {(all: Region, part: Region) => boolean} */
function contains(all, part) {
  const right = part.x + part.width <= all.x + all.width;
  return part.x >= all.x && part.y >= all.y && right && part.y + part.height <= all.y + all.height;
}

/** @param {string | undefined} text */
function regionOf(text) {
  const numbers = (text ?? "").split(",").map(Number);
  if (numbers.length !== 4 || !numbers.every(Number.isFinite)) return null;
  const [x = 0, y = 0, width = 0, height = 0] = numbers;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}
