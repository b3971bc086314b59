/** Fingers on the picture of a machine that one is in control of: one works, two are about the picture. */

const MOVED_PIXELS = 5;
const LONG_MILLISECONDS = 600;
/** In which a second finger may still come. */
const ALONE_MILLISECONDS = 80;
/** In which a tap goes on as a drag, or as a double click. */
const AGAIN_MILLISECONDS = 250;

/** Directly, or as a touchpad: then a finger moves the pointer, and a tap clicks where that is. */
export class Fingers {
  #finger = /** @type {Finger | null} */ (null);
  /** Holds the button of a tap, that may go on. */
  #tapped = 0;

  constructor(/** @type {import("./control.js").Pointer} */ pointer) {
    this.pointer = pointer;
    this.touchpad = pointer.hands.touchpad;
  }

  pressed(/** @type {PointerEvent} */ event) {
    if (!event.isPrimary) {
      this.cancel();
      return;
    }
    const isDirect = !this.touchpad.isOn;
    const { screen } = this.pointer.hands;
    const place = screen.placeOf(event);
    // Nobody should click on what is not shown.
    if (isDirect ? !place : !screen.region) return;
    if (!isDirect) void this.touchpad.find();
    this.pointer.capture(event);
    const { clientX: x, clientY: y, timeStamp: at } = event;
    this.#finger = { place, x, y, at, isDirect, isAgain: this.#endTap(), hasMoved: false, way: [] };
  }

  moved(/** @type {PointerEvent} */ event) {
    const finger = this.#finger;
    if (!finger || !event.isPrimary) return;
    const isNear = Math.hypot(event.clientX - finger.x, event.clientY - finger.y) < MOVED_PIXELS;
    if (!finger.hasMoved && !finger.way.length && isNear) return;
    finger.way.push(...allIn(event));
    if (finger.hasMoved || event.timeStamp - finger.at >= ALONE_MILLISECONDS) this.#go(event, finger);
  }

  lifted(/** @type {PointerEvent} */ event) {
    const finger = this.#finger;
    if (!finger || !event.isPrimary) return;
    this.#finger = null;
    if (finger.way.length) this.#go(event, finger);
    const { isDirect, isAgain, hasMoved } = finger;
    const direct = hasMoved ? this.pointer.hands.screen.placeOf(event, true) : finger.place;
    const place = isDirect ? direct : this.touchpad.place;
    if (isDirect ? hasMoved : isAgain) this.pointer.change(event, 0, place);
    if (hasMoved) return;
    const isLong = event.timeStamp - finger.at > LONG_MILLISECONDS;
    if (isDirect || isAgain !== isLong) {
      this.pointer.change(event, isLong ? 2 : 1, place);
      this.pointer.change(event, 0, place);
    } else if (!isAgain) this.#tap(event, place);
  }

  /** Nothing of what the finger did so far is meant. */
  cancel() {
    this.#finger = null;
    this.#endTap();
    this.pointer.change(null, 0, null);
  }

  /** @type {(event: PointerEvent, finger: Finger) => void} what has moved so far is meant */
  #go(event, finger) {
    if (!finger.hasMoved && finger.isDirect) this.pointer.change(event, 1, finger.place);
    finger.hasMoved = true;
    for (const each of finger.way.splice(0)) {
      const place = finger.isDirect
        ? this.pointer.hands.screen.placeOf(each, true)
        : this.touchpad.moved(each.clientX - finger.x, each.clientY - finger.y);
      if (place) ({ clientX: finger.x, clientY: finger.y } = each);
      this.pointer.move(place);
    }
    if (!finger.isDirect) this.touchpad.follow();
  }

  /** @type {(event: PointerEvent, place: Place | null) => void} a click that may go on */
  #tap(event, place) {
    this.pointer.change(event, 1, place);
    this.#tapped = setTimeout(() => {
      this.#endTap();
      this.pointer.change(event, 0, this.touchpad.place);
    }, AGAIN_MILLISECONDS);
  }

  /** Whether a tap went on until now. */
  #endTap() {
    const tapped = this.#tapped;
    clearTimeout(tapped);
    this.#tapped = 0;
    return tapped !== 0;
  }
}

/** @param {PointerEvent} event of which a browser tells several at once, and the last one as the event itself */
export function allIn(event) {
  const all = event.getCoalescedEvents();
  return all.length ? all : [event];
}
