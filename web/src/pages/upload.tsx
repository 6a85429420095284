// Upload of a gold standard and predictions.
import { useEffect, useRef, useState } from "preact/hooks";
import { EmptyState } from "../components";
import type { Page } from "../page";
import { hasServer, isSingleSubmission } from "../resources";

interface UploadOptions {
  is_open: boolean;
  max_bytes: number;
  profiles: { name: string; title: string; description: string }[];
  knowledge_bases: string[];
}

interface Task {
  description: string;
  done: number;
  total: number | null;
}

interface UploadState {
  message?: string;
  links?: string[];
  task?: Task;
}

const POLL_INTERVAL = 400; // milliseconds
const DEFAULT_OPTIONS: UploadOptions = {
  is_open: true,
  max_bytes: 50_000_000,
  profiles: [{ name: "karat", title: "Karat", description: "" }],
  knowledge_bases: [],
};

/** Send a form; report the bytes sent, which `fetch` cannot do. */
function sendForm(
  form: FormData,
  token: string,
  onProgress: (task: Task) => void,
): Promise<{ isOk: boolean; body: { links?: string[]; message?: string } }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "api/uploads");
    request.setRequestHeader("authorization", `Bearer ${token}`);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) =>
      onProgress({ description: "sending the files", done: loaded, total });
    request.onload = () => resolve({ isOk: request.status < 300, body: request.response ?? {} });
    request.onerror = () => reject(new Error("The server did not answer. Check that it is running."));
    request.send(form);
  });
}

/** Ask for the progress of an upload until it has ended. */
function watchProgress(key: string, onProgress: (task: Task) => void): () => void {
  const timer = setInterval(async () => {
    const response = await fetch(`api/uploads/${key}`).catch(() => null);
    if (response?.ok) onProgress(await response.json());
  }, POLL_INTERVAL);
  return () => clearInterval(timer);
}

const makeKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export function Upload() {
  const [state, setState] = useState<UploadState>({});
  const [options, setOptions] = useState(DEFAULT_OPTIONS);
  const isActive = useRef(true);
  useEffect(() => {
    fetch("api/uploads")
      .then((response) => response.json())
      .then(setOptions, () => {}); // the form works with the defaults
    return () => {
      isActive.current = false;
    };
  }, []);
  const submitForm = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const token = String(form.get("token")),
      key = makeKey();
    form.delete("token");
    form.append("key", key);
    const reportTask = (task: Task) => isActive.current && setState({ task });
    reportTask({ description: "sending the files", done: 0, total: null });
    let stopWatching = () => {};
    try {
      const { isOk, body } = await sendForm(form, token, (task) => {
        reportTask(task);
        if (task.done === task.total) {
          stopWatching();
          stopWatching = watchProgress(key, reportTask);
        }
      });
      // The leaderboard that this page has loaded is outdated now.
      if (isOk) addEventListener("hashchange", () => location.reload(), { once: true });
      setState(isOk ? { links: body.links } : { message: body.message ?? "The server refused the upload." });
    } catch (error) {
      setState({ message: (error as Error).message });
    } finally {
      stopWatching();
    }
  };
  if (!options.is_open)
    return (
      <EmptyState
        isHeading
        message="This server is read-only. To accept uploads, start it with a token:"
        command="karat serve ARCHIVE --uploads"
      />
    );
  return (
    <>
      <h1 class="summary">Upload a gold standard and predictions. Karat scores them and gives them a permanent URL.</h1>
      <form class="form" onSubmit={submitForm}>
        <label>
          gold standard <input type="file" name="gold" required />
        </label>
        <label>
          predictions <input type="file" name="predictions" required />
        </label>
        <label>
          system name <input type="text" name="system" required maxLength={80} />
        </label>
        <label>
          description <textarea name="description" rows={2} maxLength={1000} placeholder="optional" />
        </label>
        <label>
          date of the system <input type="date" name="date" />
        </label>
        <label>
          profile{" "}
          <select name="profile">
            {options.profiles.map((profile) => (
              <option key={profile.name} value={profile.name}>
                {profile.title}
              </option>
            ))}
          </select>
        </label>
        <label>
          knowledge base{" "}
          <select name="kb">
            <option value="">none</option>
            {options.knowledge_bases.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          server token <input type="password" name="token" required autocomplete="off" />
        </label>
        <button type="submit" disabled={state.task !== undefined}>
          {state.task ? "Scoring …" : "Score"}
        </button>
      </form>
      {state.task && (
        <label class="progress">
          <progress value={state.task.total ? state.task.done / state.task.total : undefined} />
          <span>
            {state.task.description}
            {state.task.total !== null && state.task.total > 0 && (
              <span class="quiet">
                {state.task.description === "sending the files"
                  ? ` ${Math.floor((100 * state.task.done) / state.task.total)} %`
                  : ` ${state.task.done} of ${state.task.total}`}
              </span>
            )}
          </span>
        </label>
      )}
      <div role="status">
        {state.message && <p class="missing">{state.message}</p>}
        {state.links?.length ? (
          <p class="missing">
            Scored. <a href={state.links[0]}>View results</a>
            {state.links.length > 1 && (
              <>
                {" "}
                or <a href={state.links[1]}>the whole archive</a>
              </>
            )}
            . The first link is permanent and always shows this submission only.
          </p>
        ) : null}
      </div>
      <p class="quiet prose">
        At most {Math.round(options.max_bytes / 1e6)} MB. Karat detects the format: its own JSONL, NIF, ELEVANT, HIPE,
        AIDA and all other supported formats. A knowledge base resolves redirects and supplies names and types of
        entities. <code>karat serve … --uploads</code> prints the token to its terminal.
      </p>
    </>
  );
}

/** Whether uploads are possible: there is a server, and it shows the whole archive. */
const canUpload = () => hasServer() && !isSingleSubmission();

export const PAGE: Page = {
  title: "Upload",
  group: "Data",
  position: 30,
  Content: () => (canUpload() ? <Upload /> : <EmptyState isHeading message="No server accepts uploads here." />),
  isListed: canUpload,
};
