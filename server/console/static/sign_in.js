/** The page that asks for a token, once. */

import { statusOf, wordsOf } from "./api.js";
import { fill, h } from "./dom.js";
import { commandLine, labelled } from "./parts.js";

/**
 * `signIn(token)` throws a Problem where the token will not do; `words` say why we are here.
 * @type {(signIn: (token: string) => Promise<void>, words: string) => HTMLElement}
 */
export function signInPage(signIn, words) {
  const field = h("input", {
    type: "password",
    name: "token",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    maxlength: 200,
    placeholder: "fh_…",
    required: true,
  });
  const said = h("p", { class: "said", role: "alert" }, words);
  const button = h("button", { class: "primary" }, "Sign in");
  const form = h(
    "form",
    { submit },
    labelled("Token", field),
    h("div", { class: "row" }, button),
    said,
  );

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    const token = field.value.trim();
    if (!token) return;
    button.disabled = true;
    try {
      await signIn(token);
    } catch (error) {
      const unknown = statusOf(error) === 401;
      const advice = " Check that all of it was copied, from fh_ to its end.";
      fill(said, unknown ? `This token is not known, has expired or was revoked.${advice}` : wordsOf(error));
      field.select();
    } finally {
      button.disabled = false;
    }
  }

  requestAnimationFrame(() => field.focus());
  return h(
    "section",
    { class: "sign-in" },
    h("h1", {}, "Sign in to Farhand"),
    form,
    h("h2", {}, "Where is a token?"),
    h("p", {}, "Make one for yourself, which can be revoked alone. On the server's host, as its user:"),
    commandLine("farhand token create --name my-console --role operator"),
    // Which directory that is, is not for strangers, and nobody has signed in yet.
    h(
      "p",
      {},
      "Where the server's data is not in the usual directory, add ",
      h("code", {}, "--data-dir"),
      ": the server's log has the whole command, with the directory, at every start.",
    ),
    h(
      "p",
      {},
      "Or take the administrator's: the server's first start has written it to the file ",
      h("code", {}, "admin-token"),
      " in its data directory.",
    ),
    h(
      "p",
      { class: "small" },
      "The token is exchanged for a session that scripts cannot read; it is not kept here.",
    ),
  );
}
