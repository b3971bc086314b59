/** A field to choose a pool by its name. */

import { html, useEffect, useState } from "../parts/elements.js";
import { readPools } from "../parts/forms.js";
import { Field } from "../parts/pieces.js";
import { wordsOf } from "../server/api.js";

/** All that the server has, read when it is asked for. */
export function PoolField() {
  const [pools, take] = useState(/** @type {Pool[] | null} */ (null));
  const [words, say] = useState("");
  useEffect(() => void readPools().then(take, (/** @type {unknown} */ error) => say(wordsOf(error))), []);
  if (words) return html`<p class="said" role="alert">${words}</p>`;
  if (pools && !pools.length) return html`<p>There is no pool yet. <a href="#/settings/pools">The settings</a> make one.</p>`;
  return html`<${Field} label="Pool"><select name="pool_id" required>
    ${pools?.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
  </select><//>`;
}
