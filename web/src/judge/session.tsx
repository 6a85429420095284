// The pages before the first and after the last task.
import { useState } from "preact/hooks";
import * as api from "./api";
import { Prose } from "./components";

const JOIN_PREFIX = "#/join/";
const parseInvitation = (text: string): string =>
  (text.includes(JOIN_PREFIX) ? text.slice(text.indexOf(JOIN_PREFIX) + JOIN_PREFIX.length) : text).trim();

export function SignIn({
  campaign,
  message,
  onSignIn,
}: {
  campaign: api.Campaign;
  message: string;
  onSignIn: () => void;
}) {
  const [linkInvitation] = useState(location.hash.startsWith(JOIN_PREFIX) ? parseInvitation(location.hash) : "");
  const [state, setState] = useState({ message, isBusy: false });
  const submitForm = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setState({ message: "", isBusy: true });
    try {
      await api.startSession(
        linkInvitation || parseInvitation(String(form.get("invitation"))),
        form.get("consent") !== null || !campaign.consent,
      );
      history.replaceState(null, "", location.pathname); // remove the invitation from the URL
      onSignIn();
    } catch (error) {
      setState({ message: (error as Error).message, isBusy: false });
    }
  };
  return (
    <main class="session">
      <h1>{campaign.name}</h1>
      <div class="prose">
        <Prose text={campaign.consent} />
      </div>
      <form class="sign-in" onSubmit={submitForm}>
        {!linkInvitation && (
          <label class="field">
            Your invitation
            <input
              type="text"
              name="invitation"
              required
              autocomplete="off"
              spellcheck={false}
              aria-describedby="invitation-hint"
            />
            <span class="quiet" id="invitation-hint">
              Your invitation link, or the code after "#".
            </span>
          </label>
        )}
        {campaign.consent && (
          <label class="agree">
            <input type="checkbox" name="consent" required /> I have read this and agree.
          </label>
        )}
        <button type="submit" class="main" disabled={state.isBusy}>
          {state.isBusy ? "Signing in …" : "Begin"}
        </button>
      </form>
      <div role="alert">{state.message && <p class="missing">{state.message}</p>}</div>
    </main>
  );
}

/** The page after the last task. */
export function Completion({ progress }: { progress: api.Progress }) {
  const [isCopied, setCopied] = useState(false);
  const code = progress.code;
  return (
    <main class="session">
      <h1 class="summary">{progress.completed ? "Thank you. You have completed all tasks." : "No tasks available."}</h1>
      <p class="prose">
        {progress.completed === 1 ? "1 task" : `${progress.completed} tasks`} completed. All decisions are saved.
      </p>
      {code && (
        <section aria-label="Completion code">
          <p>Enter this code on your crowd platform:</p>
          <p class="code">
            <code>{code}</code>{" "}
            <button type="button" onClick={() => navigator.clipboard?.writeText(code).then(() => setCopied(true))}>
              Copy
            </button>{" "}
            <span role="status">{isCopied && "Copied"}</span>
          </p>
        </section>
      )}
    </main>
  );
}
