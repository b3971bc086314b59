/** Hands on the picture: pointer, wheel and keyboard, as they happen. */

import { Fingers } from "./fingers.js";
import { isComposed, isCopying, Keys, ownKeyOf, pastingOf } from "./keys.js";
import { Typed } from "./typed.js";

const PIXELS_OF_A_NOTCH = 100;
const LINES_OF_A_NOTCH = 3;
const MAX_NOTCHES = 20;
/**
 * By the bits of `buttons`.
 * @type {[number, Button][]}
 */
const BUTTONS = [
  [1, "left"],
  [2, "right"],
  [4, "middle"],
];
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/**
 * Listens to the picture, and to a field that has the keyboard, until the signal is aborted.
 * `placeOf(event)` is the place on the machine under the pointer or null; `own(key)` is called for
 * the console's own keys, and `latches` has the buttons of keys.
 * @param {Hands} hands
 */
export function takeControl({ surface, typing, placeOf, touchpad, latches, hand, clipboard, own, signal }) {
  const keys = new Keys(IS_MAC);
  const pointer = new Pointer(surface, placeOf, touchpad, hand, keys);
  const fingers = new Fingers(pointer);
  const typed = new Typed({ typing, latches, hand });
  const options = { signal, passive: false };
  // What the person still holds goes down again with the next thing that it is held for.
  hand.released = () => hand.send(...keys.release());
  /**
   * @template {keyof HTMLElementEventMap} Name
   * @param {HTMLElement} element
   * @param {Name} type
   * @param {(event: HTMLElementEventMap[Name]) => unknown} take
   */
  const on = (element, type, take) => element.addEventListener(type, take, options);
  const letGo = () => {
    fingers.cancel();
    hand.send(...pointer.release(), ...keys.release());
  };
  /** @param {PointerEvent} event */
  const who = (event) => (event.pointerType === "touch" ? fingers : pointer);

  // After the middle button goes up, a browser on X11 pastes what is selected somewhere.
  for (const type of /** @type {const} */ (["contextmenu", "auxclick", "dragstart", "mousedown", "mouseup"]))
    on(surface, type, (event) => event.preventDefault());
  on(surface, "pointerdown", (event) => {
    typing.focus({ preventScroll: true });
    typed.forget();
    who(event).pressed(event);
  });
  on(surface, "pointermove", (event) => who(event).moved(event));
  on(surface, "pointerup", (event) => who(event).lifted(event));
  on(surface, "pointercancel", () => fingers.cancel());
  // Whoever comes back to the picture by keyboard goes on there.
  on(surface, "focus", () => typing.focus({ preventScroll: true }));
  on(surface, "wheel", (event) => pointer.turned(event));

  on(typing, "keydown", (event) => {
    const ownKey = ownKeyOf(event);
    if (ownKey) {
      event.preventDefault();
      letGo();
      own(ownKey);
    } else if (isPasted(event)) {
      // The browser goes on to tell what is pasted.
    } else if (!isComposed(event)) {
      // Also what is not sent stays here: Tab must not lead away, nor F5 load anew.
      event.preventDefault();
      typed.forget();
      hand.send(...(latches.pressed(event) ?? keys.down(event)));
    }
  });
  on(typing, "keyup", (event) => hand.send(...keys.up(event)));
  on(typing, "input", (event) => typed.changed(event instanceof InputEvent && event.isComposing));
  on(typing, "compositionend", () => typed.changed(false));
  on(typing, "paste", (event) => {
    event.preventDefault();
    void clipboard?.paste(event.clipboardData?.getData("text/plain") ?? "");
  });

  signal.addEventListener("abort", letGo);
  on(typing, "focus", () => typed.forget());
  // Whoever looks away holds nothing: no other page tells what goes up meanwhile.
  on(typing, "blur", letGo);
  addEventListener("blur", letGo, { signal });
  addEventListener("pagehide", letGo, { signal });
  document.addEventListener("visibilitychange", letGo, { signal });
  document.addEventListener("freeze", letGo, { signal });

  /** @param {KeyboardEvent} event */
  function isPasted(event) {
    if (!clipboard || event.repeat) return false;
    if (isCopying(event)) clipboard.copiesThere();
    const chord = pastingOf(event, IS_MAC);
    if (chord === null || !clipboard.mayBeNewer) return false;
    clipboard.expect(chord, keys.release());
    return true;
  }
}

/** A mouse or a pen as it is; fingers do what `Fingers` says. */
export class Pointer {
  #buttons = 0;
  #turned = 0;
  /** @type {Place | null} */
  #last = null;

  /**
   * @param {HTMLElement} surface
   * @param {Hands["placeOf"]} placeOf
   * @param {Hands["touchpad"]} touchpad
   * @param {Hands["hand"]} hand
   * @param {Keys} keys
   */
  constructor(surface, placeOf, touchpad, hand, keys) {
    this.surface = surface;
    this.placeOf = placeOf;
    this.touchpad = touchpad;
    this.hand = hand;
    this.keys = keys;
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    const place = this.placeOf(event);
    if (!place) return;
    this.capture(event);
    this.change(event, event.buttons, place);
  }

  /** @param {PointerEvent} event */
  moved(event) {
    // A browser tells of several places at once, and of the last one as the event itself.
    const all = event.getCoalescedEvents();
    const moves = (all.length ? all : [event]).flatMap((each) => this.#moveTo(this.placeOf(each, this.#buttons > 0)));
    this.hand.send(...moves);
    const place = this.placeOf(event, true);
    // Of a mouse's further buttons only the bits tell.
    if (place && (this.#buttons || moves.length)) this.change(event, event.buttons, place);
  }

  /** @param {PointerEvent} event */
  lifted(event) {
    // Also where the picture has gone meanwhile.
    this.change(event, event.buttons, this.placeOf(event, true));
  }

  /**
   * Hear of a pointer until it is up, also beside the picture.
   * @param {PointerEvent} event
   */
  capture({ pointerId }) {
    this.surface.setPointerCapture(pointerId);
  }

  /** @param {Place | null} place */
  move(place) {
    this.hand.send(...this.#moveTo(place));
  }

  /** All buttons go up. */
  letGo() {
    this.hand.send(...this.release());
  }

  /** @param {WheelEvent} event */
  turned(event) {
    event.preventDefault();
    const place = this.placeOf(event);
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const size = event.deltaMode === 0 ? PIXELS_OF_A_NOTCH : LINES_OF_A_NOTCH;
    this.#turned += (sideways ? event.deltaX : event.deltaY) / size;
    const notches = Math.trunc(this.#turned);
    // What cannot be done now is not done later.
    if (!place) this.#turned = 0;
    if (!place || !notches) return;
    this.#turned -= notches;
    const forward = notches > 0;
    this.hand.send(...this.keys.hold(event), {
      type: "wheel",
      direction: sideways ? (forward ? "right" : "left") : forward ? "down" : "up",
      amount: Math.min(Math.abs(notches), MAX_NOTCHES),
      ...place,
    });
  }

  /**
   * Let all buttons go, where the pointer is.
   * @returns {HandEvent[]}
   */
  release() {
    const held = BUTTONS.filter(([bit]) => this.#buttons & bit);
    this.#buttons = 0;
    return held.map(([, button]) => ({ type: "button", button, down: false }));
  }

  /**
   * @param {Place | null} place
   * @returns {HandEvent[]}
   */
  #moveTo(place) {
    if (!place || (place.x === this.#last?.x && place.y === this.#last.y)) return [];
    this.#at(place);
    return [{ type: "move", ...place }];
  }

  /** @param {Place} place */
  #at(place) {
    this.#last = place;
    this.touchpad.at(place);
  }

  /**
   * These buttons are down now; without a place, where the pointer is.
   * @param {PointerEvent} event
   * @param {number} buttons
   * @param {Place | null} place
   */
  change(event, buttons, place) {
    const changed = this.#buttons ^ buttons;
    this.#buttons = buttons;
    if (place) this.#at(place);
    for (const [bit, button] of BUTTONS) {
      const down = (buttons & bit) > 0;
      if (changed & bit)
        this.hand.send(...(down ? this.keys.hold(event) : []), { type: "button", button, down, ...place });
    }
  }
}
