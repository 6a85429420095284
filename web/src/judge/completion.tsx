// The page after the last task.
import { useState } from "preact/hooks";
import type * as api from "./api";

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
