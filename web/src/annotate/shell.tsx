// The frame of all pages: header, navigation, and what is shown when a page cannot be loaded.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { FailureNotice } from "../common/components";
import { ApiError } from "../common/http";
import { endSession, type Project } from "./api";

export interface PageProps {
  project: Project;
  onSessionEnd: (message: string) => void;
}

export type Page = "documents" | "review" | "adjudicate";

const TITLES: Record<Page, string> = { documents: "Documents", review: "Review", adjudicate: "Adjudicate" };

export function Header({ project, page, onSessionEnd }: PageProps & { page: Page }) {
  const [message, setMessage] = useState("");
  const pages: Page[] =
    project.role === "adjudicator" ? ["adjudicate", "documents", "review"] : ["documents", "review"];
  const leave = () =>
    endSession().then(
      () => onSessionEnd("You have signed out. Ask for a new invitation to continue."),
      (error: Error) => setMessage(error.message),
    );
  return (
    <header>
      <span class="name" dir="auto">
        {project.name}
      </span>
      <nav aria-label="Pages">
        {pages.map((name) => (
          <a key={name} href={`#/${name}`} aria-current={name === page ? "page" : undefined}>
            {TITLES[name]}
          </a>
        ))}
      </nav>
      {project.round > 1 && <span class="quiet">Round {project.round}</span>}
      <span role="status">{message}</span>
      <button type="button" class="leave" onClick={leave}>
        Leave
      </button>
    </header>
  );
}

/** A message; texts that `isolate` marks keep their own direction. */
export function StatusText({ text }: { text: string }) {
  return (
    <>{text.split(/\u2068(.*?)\u2069/su).map((part, index) => (index % 2 ? <bdi key={index}>{part}</bdi> : part))}</>
  );
}

/** A page that could not be loaded; an ended session leads to the sign-in page. */
export function LoadFailure({
  error,
  onRetry,
  onSessionEnd,
}: {
  error: Error;
  onRetry: () => void;
  onSessionEnd: (message: string) => void;
}) {
  const isSignedOut = error instanceof ApiError && error.error === "unauthorised";
  useEffect(() => {
    if (isSignedOut) onSessionEnd(error.message);
  }, []);
  return (
    <main class="session">
      <h1 class="summary">This page could not be loaded.</h1>
      {!isSignedOut && <FailureNotice message={error.message} retry={onRetry} />}
    </main>
  );
}

/** Load data for a page, and show it, the wait or the failure. */
export function LoadedPage<T>({
  load,
  className,
  onSessionEnd,
  children,
}: {
  load: () => Promise<T>;
  className: string;
  onSessionEnd: (message: string) => void;
  children: (value: T, setValue: (value: T) => void) => ComponentChildren;
}) {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const start = () => {
    setError(null);
    load().then(setValue, setError);
  };
  useEffect(start, []);
  if (error) return <LoadFailure error={error} onRetry={start} onSessionEnd={onSessionEnd} />;
  return (
    <main class={className}>
      {value === null ? (
        <p class="quiet" role="status">
          Loading …
        </p>
      ) : (
        children(value, setValue)
      )}
    </main>
  );
}
