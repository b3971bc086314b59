/** What stands around a machine's picture: the tools above it, and below it what became of the inputs. */

import { html, useLayoutEffect, useRef, useStore } from "../parts/elements.js";
import { Toggle } from "../parts/pieces.js";
import { Ago } from "../parts/time.js";
import { ViewingTools } from "../screen/viewing.js";
import { ownKeyOf } from "./keys.js";
import { KeysPanel } from "./keys_panel.js";
import { TextPanel } from "./text_panel.js";

/** @param {ToolBarProperties} properties of one row of a height of its own: a picture that moves takes the next click elsewhere */
export function ToolBar({ control, viewing, children }) {
  useStore(control.screen);
  const { inControl, isTaking, isTurning, isPrivate, obstacle, offered, sign, holder, panel, button } = useStore(control);
  /** @type {(name: "keys" | "text", label: string, isOpen?: boolean) => unknown} */
  const opener = (name, label, isOpen = panel === name) =>
    html`<${Toggle} opens isOn=${isOpen} class="for-wide" click=${() => control.open(isOpen ? "" : name)}>${label}<//>`;
  return html`<div class="control-bar" role="group" aria-label="Tools">
    <button
      type="button" class="primary" ref=${button}
      disabled=${obstacle !== ""} aria-disabled=${isTaking || null} aria-busy=${isTaking || null}
      onClick=${() => (inControl ? control.leave() : control.take(false))}
    >${inControl ? "Give back" : isTaking ? "Taking control…" : "Take control"}</button>
    ${offered && !obstacle && html`<button type="button" onClick=${() => control.take(true)}>Take over</button>`}
    ${!obstacle && html`<label class="private" title="Nobody else sees the screen, its elements or the clipboard, and nothing is recorded.">
      <input type="checkbox" checked=${isPrivate} disabled=${isTaking || isTurning} onChange=${control.turnPrivate} />Private
    </label>`}
    ${control.mayAsk && html`<button type="button" onClick=${control.ask}>Ask to hand over</button>`}
    <strong class=${inControl ? "sign" : "sign quiet"} role="status" title=${sign}>${sign}</strong>
    ${holder && html`<small class="holder">${holder.by} has ${holder.private ? "private " : ""}control, taken <${Ago} time=${holder.since} /></small>`}
    ${inControl && html`<span class="tools">${opener("keys", "Keys")}${opener("text", "Clipboard")}</span>`}
    <${ViewingTools} viewing=${viewing} />
    ${children}
  </div>`;
}

/** Keys that a browser keeps for itself, and a field for texts: over the picture where there is a mouse, and below it on a phone. */
export function Panels(/** @type {{control: MachineControl}} */ { control }) {
  const { inControl, panel } = useStore(control);
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  // At once: whoever leaves in the same moment must not be called back into a panel that goes.
  useLayoutEffect(() => {
    const [first] = element.current?.querySelectorAll(panel === "text" ? "textarea" : "button") ?? [];
    if (panel) first?.focus();
  }, [panel]);
  function keyed(/** @type {KeyboardEvent} */ event) {
    const own = ownKeyOf(event);
    if (event.key !== "Escape" && !own) return;
    event.preventDefault();
    if (own) control.own[own]();
    else control.open("");
  }
  if (!inControl) return null;
  return html`<div class="keypad" data-panel=${panel} ref=${element} onKeyDown=${keyed}>
    <${KeysPanel} control=${control} />
    <${TextPanel} control=${control} />
  </div>`;
}

export function Outcomes(/** @type {{control: MachineControl, caption: string}} */ { control, caption }) {
  const { lost, said, noted } = useStore(control.outcome);
  function dismiss() {
    control.outcome.dismiss();
    (control.inControl ? control.typing : control.screen.canvas).focus({ preventScroll: true });
  }
  // What is too long for its place is read by scrolling, with the keyboard too.
  return html`<div class="outcomes">
    <div role="group" aria-label="What became of your inputs" tabindex="0">
      <p class="lost" role="status">${lost}</p>
      <p class="said" role="status" data-kind=${said.kind}>${said.words}</p>
      <p class="noted" role="status" data-kind=${noted.kind}>${noted.words}</p>
    </div>
    ${lost && html`<button type="button" onClick=${dismiss}>Dismiss</button>`}
    <p class="caption small">${caption}</p>
  </div>`;
}
