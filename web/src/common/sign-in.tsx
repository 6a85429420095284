// The page that exchanges an invitation for a session.
import { useEffect, useRef, useState } from "preact/hooks";
import { Prose } from "./components";

const JOIN_PREFIX = "#/join/";
const parseInvitation = (text: string): string =>
  (text.includes(JOIN_PREFIX) ? text.slice(text.indexOf(JOIN_PREFIX) + JOIN_PREFIX.length) : text).trim();

export function SignIn({
  name,
  consent,
  message,
  startSession,
  onSignIn,
}: {
  name: string;
  consent: string;
  message: string;
  startSession: (invitation: string, consent: boolean) => Promise<unknown>;
  onSignIn: () => void;
}) {
  const [linkInvitation] = useState(location.hash.startsWith(JOIN_PREFIX) ? parseInvitation(location.hash) : "");
  const [state, setState] = useState({ message, isBusy: false });
  const formElement = useRef<HTMLFormElement>(null);
  useEffect(() => formElement.current?.querySelector<HTMLElement>("input, button")?.focus(), []);
  const submitForm = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setState({ message: "", isBusy: true });
    try {
      await startSession(
        linkInvitation || parseInvitation(String(form.get("invitation"))),
        form.get("consent") !== null || !consent,
      );
      history.replaceState(null, "", location.pathname); // remove the invitation from the URL
      onSignIn();
    } catch (error) {
      setState({ message: (error as Error).message, isBusy: false });
    }
  };
  return (
    <main class="session">
      <h1>{name}</h1>
      <div class="prose">
        <Prose text={consent} />
      </div>
      <form ref={formElement} class="sign-in" onSubmit={submitForm}>
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
        {consent && (
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
