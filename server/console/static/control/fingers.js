/** Fingers on the picture of a machine that one is in control of: one works, two are about the picture. */

const MOVED_PIXELS = 5;
const LONG_MILLISECONDS = 600;
/** In which a second finger may still come. */
const ALONE_MILLISECONDS = 80;
/** In which a tap goes on as a drag, or as a double click. */
const AGAIN_MILLISECONDS = 250;

/** Directly, or as a touchpad: then a finger moves the pointer, and a tap clicks where that is. */
export class Fingers {
  /** @type {Finger | null} */
  #finger = null;
  /** Holds the button of a tap, that may go on. */
  #tapped = 0;

  /**
   * @param {import("./control.js").Pointer} pointer
   * @param {Hands["placeOf"]} placeOf
   * @param {Hands["touchpad"]} touchpad
   */
  constructor(pointer, placeOf, touchpad) {
    this.pointer = pointer;
    this.placeOf = placeOf;
    this.touchpad = touchpad;
  }

  /** @param {PointerEvent} event */
  pressed(event) {
    if (!event.isPrimary) {
      this.cancel();
      return;
    }
    const isDirect = !this.touchpad.isOn;
    const place = isDirect ? this.placeOf(event) : this.touchpad.place;
    if (isDirect && !place) return;
    if (!isDirect) void this.touchpad.find();
    this.pointer.capture(event);
    const isAgain = this.#tapped !== 0;
    clearTimeout(this.#tapped);
    this.#tapped = 0;
    const { clientX: x, clientY: y, timeStamp: at } = event;
    this.#finger = { place, x, y, at, isDirect, isAgain, hasMoved: false, way: [] };
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const finger = this.#finger;
    if (!finger || !event.isPrimary) return;
    const isNear = Math.hypot(event.clientX - finger.x, event.clientY - finger.y) < MOVED_PIXELS;
    if (!finger.hasMoved && !finger.way.length && isNear) return;
    // A browser tells of several places at once, and of the last one as the event itself.
    const all = event.getCoalescedEvents();
    finger.way.push(...(all.length ? all : [event]));
    if (finger.hasMoved || event.timeStamp - finger.at >= ALONE_MILLISECONDS) this.#go(event, finger);
  }

  /** @param {PointerEvent} event */
  lifted(event) {
    const finger = this.#finger;
    if (!finger || !event.isPrimary) return;
    this.#finger = null;
    if (finger.way.length) this.#go(event, finger);
    const isLong = event.timeStamp - finger.at > LONG_MILLISECONDS;
    if (finger.isDirect) {
      const place = this.placeOf(event, true);
      if (finger.hasMoved) this.pointer.change(event, 0, place);
      else this.#click(event, isLong ? 2 : 1, finger.place);
    } else this.#liftedFromPad(event, finger, isLong);
  }

  /** Nothing of what the finger did so far is meant. */
  cancel() {
    this.#finger = null;
    clearTimeout(this.#tapped);
    this.#tapped = 0;
    this.pointer.letGo();
  }

  /**
   * What has moved so far is meant.
   * @type {(event: PointerEvent, finger: Finger) => void}
   */
  #go(event, finger) {
    if (!finger.hasMoved && finger.isDirect) this.pointer.change(event, 1, finger.place);
    finger.hasMoved = true;
    for (const each of finger.way.splice(0)) {
      const place = finger.isDirect
        ? this.placeOf(each, true)
        : this.touchpad.moved(each.clientX - finger.x, each.clientY - finger.y);
      if (finger.isDirect || place) ({ clientX: finger.x, clientY: finger.y } = each);
      this.pointer.move(place);
    }
    if (!finger.isDirect) this.touchpad.follow();
  }

  /** @type {(event: PointerEvent, finger: Finger, isLong: boolean) => void} */
  #liftedFromPad(event, finger, isLong) {
    const { place } = this.touchpad;
    if (finger.isAgain) {
      this.pointer.change(event, 0, place);
      if (!finger.hasMoved && !isLong) this.#click(event, 1, place);
    } else if (!finger.hasMoved && isLong) this.#click(event, 2, place);
    else if (!finger.hasMoved) {
      this.pointer.change(event, 1, place);
      this.#tapped = setTimeout(() => {
        this.#tapped = 0;
        this.pointer.change(event, 0, this.touchpad.place);
      }, AGAIN_MILLISECONDS);
    }
  }

  /** @type {(event: PointerEvent, buttons: number, place: Place | null) => void} */
  #click(event, buttons, place) {
    this.pointer.change(event, buttons, place);
    this.pointer.change(event, 0, place);
  }
}
