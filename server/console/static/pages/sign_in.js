/** The page that asks for a token, once. */

import { statusOf, wordsOf } from "../server/api.js";
import { html, useEffect, useRef, useTitle } from "../parts/elements.js";
import { CommandLine, Field, textOf, WorkForm } from "../parts/pieces.js";

const UNKNOWN =
  "This token is not known, has expired or was revoked. Check that all of it was copied, from fh_ to its end.";

/** `signIn(token)` throws a Problem where the token will not do; `words` say why we are here. */
export function SignIn(/** @type {{signIn: (token: string) => Promise<void>, words: string}} */ { signIn, words }) {
  useTitle("Sign in");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);

  async function submit(/** @type {FormData} */ values) {
    try {
      await signIn(textOf(values, "token"));
    } catch (error) {
      field.current?.select();
      throw new Error(statusOf(error) === 401 ? UNKNOWN : wordsOf(error), { cause: error });
    }
  }

  return html`<section class="sign-in">
    <h1>Sign in to Farhand</h1>
    <${WorkForm} submit=${submit} words=${words}>
      <${Field} label="Token"><input
        ref=${field} type="password" name="token" autocomplete="off" spellcheck="false"
        autocapitalize="off" maxlength="200" placeholder="fh_…" required
      /><//>
      <div class="row"><button class="primary">Sign in</button></div>
    <//>
    <h2>Where do I get a token?</h2>
    <p>Make one for yourself, which can be revoked alone. On the server's host, as its user:</p>
    <${CommandLine} text="farhand token create --name my-console --role operator" />
    <p>
      Where the server's data is not in the usual directory, add <code>--data-dir</code>: the server's log
      has the whole command, with the directory, at every start.
    </p>
    <p>
      Or take the administrator's: the server's first start has written it to the file
      ${" "}<code>admin-token</code> in its data directory.
    </p>
    <p class="small">The token is exchanged for a session that scripts cannot read; it is not kept here.</p>
  </section>`;
}
