/** Hands on the picture: pointer, wheel and keyboard, as they happen. */

import { allIn, Fingers } from "./fingers.js";
import { isComposed, Keys, ownKeyOf } from "./keys.js";
import { Typed } from "./typed.js";

const PIXELS_OF_A_NOTCH = 100;
const LINES_OF_A_NOTCH = 3;
const MAX_NOTCHES = 20;
/** @type {[number, Button][]} by the bits of `buttons` */
const BUTTONS = [[1, "left"], [2, "right"], [4, "middle"]];
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** @param {Hands} hands that listen to the picture, and to a field that has the keyboard, until their signal is aborted */
export function takeControl(hands) {
  const { screen, typing, latches, hand, clipboard, own, signal } = hands;
  const surface = screen.canvas;
  const keys = new Keys(IS_MAC);
  const pointer = new Pointer(hands, keys);
  const fingers = new Fingers(pointer);
  const typed = new Typed(hands);
  // What the person still holds goes down again with the next thing that it is held for.
  hand.released = () => hand.send(...keys.release());
  /** @type {ListenTo} */
  const listen = (on, type, take) => on.addEventListener(type, take, { signal, passive: false });
  const letGo = () => {
    fingers.cancel();
    hand.send(...keys.release());
  };
  const who = (/** @type {PointerEvent} */ event) => (event.pointerType === "touch" ? fingers : pointer);

  // After the middle button goes up, a browser on X11 pastes what is selected somewhere.
  for (const type of /** @type {const} */ (["contextmenu", "auxclick", "dragstart", "mousedown", "mouseup"]))
    listen(surface, type, (event) => event.preventDefault());
  listen(surface, "pointerdown", (event) => {
    typing.focus({ preventScroll: true });
    typed.forget();
    who(event).pressed(event);
  });
  listen(surface, "pointermove", (event) => who(event).moved(event));
  listen(surface, "pointerup", (event) => who(event).lifted(event));
  listen(surface, "pointercancel", () => fingers.cancel());
  // Whoever comes back to the picture by keyboard goes on there.
  listen(surface, "focus", () => typing.focus({ preventScroll: true }));
  listen(surface, "wheel", (event) => pointer.turned(event));

  listen(typing, "keydown", (event) => {
    const ownKey = ownKeyOf(event);
    if (ownKey) {
      event.preventDefault();
      letGo();
      own[ownKey]();
    } else if (!clipboard?.waitsFor(event, keys) && !isComposed(event)) {
      // Also what is not sent stays here: Tab must not lead away, nor F5 load anew.
      event.preventDefault();
      typed.forget();
      hand.send(...(latches.pressed(event) ?? keys.down(event)));
    }
  });
  listen(typing, "keyup", (event) => hand.send(...keys.up(event)));
  listen(typing, "input", (event) => typed.changed(event instanceof InputEvent && event.isComposing));
  listen(typing, "compositionend", () => typed.changed(false));
  listen(typing, "paste", (event) => {
    event.preventDefault();
    void clipboard?.paste(event.clipboardData?.getData("text/plain") ?? "");
  });
  listen(typing, "focus", () => typed.forget());

  // Whoever looks away holds nothing: no other page tells what goes up meanwhile.
  listen(typing, "blur", letGo);
  for (const type of ["blur", "pagehide", "visibilitychange"]) addEventListener(type, letGo, { signal });
  document.addEventListener("freeze", letGo, { signal });
  signal.addEventListener("abort", letGo);
}

/** A mouse or a pen as it is; fingers do what `Fingers` says. */
export class Pointer {
  #buttons = 0;
  #turned = 0;
  #last = /** @type {Place | null} */ (null);

  constructor(/** @type {Hands} */ hands, /** @type {Keys} */ keys) {
    this.hands = hands;
    this.keys = keys;
  }

  pressed(/** @type {PointerEvent} */ event) {
    const place = this.hands.screen.placeOf(event);
    if (!place) return;
    this.capture(event);
    this.change(event, event.buttons, place);
  }

  moved(/** @type {PointerEvent} */ event) {
    for (const each of allIn(event)) this.move(this.hands.screen.placeOf(each, this.#buttons > 0));
    const place = this.hands.screen.placeOf(event, this.#buttons > 0);
    // Of a mouse's further buttons only the bits tell.
    if (place) this.change(event, event.buttons, place);
  }

  lifted(/** @type {PointerEvent} */ event) {
    // Also where the picture has gone meanwhile.
    this.change(event, event.buttons, this.hands.screen.placeOf(event, true));
  }

  /** @param {PointerEvent} event whose pointer is heard of until it is up, also beside the picture */
  capture({ pointerId }) {
    this.hands.screen.canvas.setPointerCapture(pointerId);
  }

  move(/** @type {Place | null} */ place) {
    if (!place || (place.x === this.#last?.x && place.y === this.#last.y)) return;
    this.#at(place);
    this.hands.hand.send({ type: "move", ...place });
  }

  turned(/** @type {WheelEvent} */ event) {
    event.preventDefault();
    const place = this.hands.screen.placeOf(event);
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const size = event.deltaMode === 0 ? PIXELS_OF_A_NOTCH : LINES_OF_A_NOTCH;
    this.#turned += (sideways ? event.deltaX : event.deltaY) / size;
    const notches = Math.trunc(this.#turned);
    // What cannot be done now is not done later.
    if (!place) this.#turned = 0;
    if (!place || !notches) return;
    this.#turned -= notches;
    const forward = notches > 0;
    const direction = sideways ? (forward ? "right" : "left") : forward ? "down" : "up";
    const amount = Math.min(Math.abs(notches), MAX_NOTCHES);
    this.hands.hand.send(...this.keys.hold(event), { type: "wheel", direction, amount, ...place });
  }

  #at(/** @type {Place} */ place) {
    this.#last = place;
    this.hands.touchpad.at(place);
  }

  /** @type {(event: PointerEvent | null, buttons: number, place: Place | null) => void} that are down now, at the place or where it was */
  change(event, buttons, place) {
    const changed = this.#buttons ^ buttons;
    this.#buttons = buttons;
    if (place) this.#at(place);
    for (const [bit, button] of BUTTONS) {
      const down = (buttons & bit) > 0;
      if (changed & bit)
        this.hands.hand.send(...(down && event ? this.keys.hold(event) : []), { type: "button", button, down, ...place });
    }
  }
}
