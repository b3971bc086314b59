/** The form for a webhook, new or changed. */

import { html } from "../../parts/elements.js";
import { Choices, chosenOf, PoolChoices } from "../../parts/forms.js";
import { Dialog, Field, textOf } from "../../parts/pieces.js";

/** @type {Record<string, string>} */
export const EVENTS = {
  machine_offline: "A machine is away",
  machine_online: "It is back",
  help_requested: "A program asks for help",
};

/** What this browser's clock goes by. */
const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param {WebhookFormProperties} properties: what is `submit`ted is all that a webhook can be told */
export function WebhookForm({ webhook, pools, submit, close }) {
  const quiet = webhook?.quiet_hours;
  const send = async (/** @type {FormData} */ values) => {
    await submit(bodyOf(values));
    close();
  };
  return html`<${Dialog} title=${webhook ? "Change the webhook" : "New webhook"} submit=${send} close=${close}>
    <${Field} label="Address that is posted to, with https before it"><input name="url" required maxlength="2000" inputmode="url" autocapitalize="off" spellcheck="false" defaultValue=${webhook?.url ?? ""} /><//>
    <${Choices} name="events" legend="Told when" options=${Object.entries(EVENTS)} chosen=${webhook?.events ?? Object.keys(EVENTS)} />
    <${PoolChoices} legend="Of machines in these pools (none: of all)" pools=${pools} chosen=${webhook?.pools.map(({ id }) => id)} />
    <${Field} label="Description (optional)"><input name="description" maxlength="1000" dir="auto" defaultValue=${webhook?.description ?? ""} /><//>
    <div class="fields">
      <${Field} label="Quiet from (optional)"><input name="quiet_hours.begin" type="time" defaultValue=${quiet?.begin ?? ""} /><//>
      <${Field} label="Quiet until"><input name="quiet_hours.end" type="time" defaultValue=${quiet?.end ?? ""} /><//>
      <${Field} label="In the time zone"><input name="quiet_hours.time_zone" maxlength="64" spellcheck="false" defaultValue=${quiet?.time_zone ?? ZONE} /><//>
    </div>
    <p class="small">What happens in quiet hours comes as one message at their end.</p>
    <div class="row"><button class="primary">${webhook ? "Save" : "Make"}</button><button type="button" onClick=${close}>Cancel</button></div>
  <//>`;
}

/** @param {FormData} values of the form, as the server takes them */
function bodyOf(values) {
  const [begin, end, time_zone] = ["begin", "end", "time_zone"].map((name) => textOf(values, `quiet_hours.${name}`));
  return {
    url: textOf(values, "url"),
    events: chosenOf(values, "events"),
    pool_ids: chosenOf(values, "pool_ids"),
    description: textOf(values, "description") || null,
    quiet_hours: begin || end ? { begin, end, time_zone } : null,
  };
}
