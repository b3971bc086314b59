/** Turns on and off that the browser says when a machine is in trouble. */

import { html, useStore } from "../parts/elements.js";
import { Toggle } from "../parts/pieces.js";
import { toast } from "../parts/toasts.js";
import { notifier } from "./notifier.js";

const DENIED = "The browser does not let this page notify you: allow it in its settings for this page, and press again.";
const NONE = "This browser notifies of nothing here. It does so on pages that come over https, or from this computer itself.";

export function NotifyButton() {
  const { isOn } = useStore(notifier);
  async function click() {
    if (isOn) notifier.turn(false);
    else if (!notifier.permission) toast(NONE, "bad");
    else {
      await notifier.begin();
      if (!notifier.isOn) toast(DENIED, "bad");
    }
  }
  return html`<${Toggle} isOn=${isOn} click=${() => void click()} title="Say on this computer when a machine gets into trouble">Notify me<//>`;
}
