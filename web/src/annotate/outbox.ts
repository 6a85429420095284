// The queue of changes that the server has not confirmed. It survives reloads; ids make repeated requests harmless.
import { signal } from "@preact/signals";
import { ApiError } from "../common/http";
import type { ChangeReceipt, DocumentPayload, DocumentState, LabelEdit } from "./api";
import * as api from "./api";
import { isEqualState } from "./labels";

export type Action = "changes" | "undo" | "redo" | "finish" | "reopen" | "skip";

export interface Operation {
  id: string;
  action: Action;
  edits?: LabelEdit[];
  /** Label states before the change, which tell whether another tab changed the same labels. */
  before?: LabelEdit[];
  reason?: string;
  seconds?: number;
  client_time?: string;
}

export type Receipt = ChangeReceipt & { state?: DocumentState };

interface OutboxEvents {
  onReceipt: (operation: Operation, receipt: Receipt) => void;
  /** The document changed elsewhere: show `payload` with the operations that remain. */
  onReload: (payload: DocumentPayload, remaining: readonly Operation[], message: string) => void;
  onSessionEnd: (message: string) => void;
}

const PREFIX = "karat-annotate";
const MAX_DELAY_MS = 15_000;

/** The storage of the browser; null if the settings of the browser forbid it. */
const storage: Storage | null = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();

const storageKey = (owner: string, name: string, tab: string) => `${PREFIX} ${owner} ${name} ${tab}`;

/** Identify this tab, so that two tabs do not overwrite each other's queue. */
function getTab(): string {
  const newTab = Math.random().toString(36).slice(2);
  if (!storage) return newTab;
  const tab = sessionStorage.getItem(PREFIX) ?? newTab;
  sessionStorage.setItem(PREFIX, tab);
  return tab;
}

/** JSON has no undefined: a state without decision is written as the string "unset". */
const writeEdits = (edits?: LabelEdit[]) => edits?.map(({ id, after }) => [id, after === undefined ? "unset" : after]);
const readEdits = (edits?: [string, LabelEdit["after"] | "unset"][]) =>
  edits?.map(([id, after]) => ({ id, after: after === "unset" ? undefined : after }));

function readOperations(key: string): { revision: number; operations: Operation[] } {
  try {
    const { revision, operations } = JSON.parse(storage?.getItem(key) ?? "");
    return {
      revision,
      operations: operations.map((operation: Operation) => ({
        ...operation,
        edits: readEdits(operation.edits as never),
        before: readEdits(operation.before as never),
      })),
    };
  } catch {
    return { revision: 0, operations: [] };
  }
}

/** Check that no label of a change was changed elsewhere. */
function canRepeat(operation: Operation, payload: DocumentPayload): boolean {
  if (!["changes", "undo", "redo"].includes(operation.action)) return true;
  const states = new Map<string, LabelEdit["after"]>([
    ...payload.labels.map(({ id, label, note }) => [id, { label, note }] as const),
    ...payload.rejected.map((id) => [id, null] as const),
  ]);
  return (
    operation.action === "changes" &&
    (operation.before ?? []).every(({ id, after }) => isEqualState(states.get(id) ?? null, after ?? null))
  );
}

export class Outbox {
  readonly size = signal(0);
  readonly failure = signal<string | null>(null);
  private operations: Operation[] = [];
  private isSending = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delay = 1000;
  private isClosed = false;

  constructor(
    private readonly key: string,
    private readonly name: string,
    private revision: number,
    private readonly events: OutboxEvents,
  ) {
    addEventListener("online", this.retry);
    addEventListener("beforeunload", this.warn);
  }

  add(operation: Operation) {
    this.operations.push(operation);
    this.save();
    void this.send();
  }

  /** Send again without waiting. */
  readonly retry = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    void this.send();
  };

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.retry);
    removeEventListener("beforeunload", this.warn);
  }

  /** Ask before the page is left while the server is away. */
  private readonly warn = (event: BeforeUnloadEvent) => {
    if (this.failure.peek() !== null && this.operations.length) event.preventDefault();
  };

  private save() {
    this.size.value = this.operations.length;
    if (this.isClosed) return; // what is stored may have been sent by another queue
    if (!this.operations.length) return storage?.removeItem(this.key);
    const operations = this.operations.map((operation) => ({
      ...operation,
      edits: writeEdits(operation.edits),
      before: writeEdits(operation.before),
    }));
    try {
      storage?.setItem(this.key, JSON.stringify({ revision: this.revision, operations }));
    } catch {
      // The storage is full: the changes stay in this page until they are sent.
    }
  }

  private async send(): Promise<void> {
    if (this.isSending || this.isClosed || this.timer !== undefined) return;
    this.isSending = true;
    try {
      while (this.operations.length && !this.isClosed) await this.sendFirst();
      this.failure.value = null;
      this.delay = 1000;
    } catch (error) {
      this.handleError(error as Error);
    } finally {
      this.isSending = false;
    }
  }

  private async sendFirst(): Promise<void> {
    const operation = this.operations[0];
    const { id, action, edits, reason, seconds, client_time } = operation;
    const body = {
      changes: { id, revision: this.revision, edits, seconds, client_time },
      undo: { id, revision: this.revision },
      redo: { id, revision: this.revision },
      finish: { id },
      reopen: { id },
      skip: { id, reason },
    }[action];
    let receipt: Receipt;
    try {
      receipt = await api.sendOperation(this.name, action, body);
    } catch (error) {
      if (!(error instanceof ApiError) || error.isTemporary || error.error === "unauthorised") throw error;
      return this.reload(error);
    }
    this.operations.shift();
    const isExpected = receipt.revision === undefined || receipt.revision === this.revision + 1;
    if (receipt.revision !== undefined) this.revision = receipt.revision;
    this.save();
    if (this.isClosed) return;
    this.events.onReceipt(operation, receipt);
    if (!isExpected) await this.reload(null);
  }

  /** Load the document again after a change elsewhere, or a refusal; drop the changes that no longer fit. */
  private async reload(error: ApiError | null): Promise<void> {
    const payload = await api.loadDocument(this.name);
    const isStale = error === null || error.error === "stale";
    const candidates = isStale ? this.operations : this.operations.slice(1);
    const remaining: Operation[] = [];
    for (const operation of candidates) {
      if (!canRepeat(operation, payload)) break; // later changes may build on this one
      remaining.push(operation);
    }
    const droppedCount = this.operations.length - remaining.length;
    this.operations = remaining;
    this.revision = payload.revision;
    this.save();
    const reason = isStale ? "This document was changed in another tab, so it was loaded again." : error.message;
    const loss =
      droppedCount === 0
        ? " Your last change was kept."
        : droppedCount === 1
          ? " Your last change was not saved."
          : ` Your last ${droppedCount} changes were not saved.`;
    this.events.onReload(payload, remaining, reason + loss);
  }

  private handleError(error: Error) {
    if (this.isClosed) return;
    if (error instanceof ApiError && error.error === "unauthorised") return this.events.onSessionEnd(error.message);
    this.failure.value =
      error instanceof ApiError && error.status === 0 ? "The server is not responding." : error.message;
    this.timer = setTimeout(this.retry, this.delay);
    this.delay = Math.min(2 * this.delay, MAX_DELAY_MS);
  }
}

/** Create the queue of a document in this tab. */
export function openOutbox(owner: string, payload: DocumentPayload, events: OutboxEvents): Outbox {
  return new Outbox(storageKey(owner, payload.name, getTab()), payload.name, payload.revision, events);
}

/** Send what earlier visits left unsent in this browser; return a message about changes that no longer fit. */
export async function sendStoredOperations(owner: string): Promise<string> {
  const start = `${PREFIX} ${owner} `;
  const keys = Object.keys(storage ?? {}).filter((key) => key.startsWith(start));
  let message = "";
  for (const key of keys) {
    const { revision, operations } = readOperations(key);
    const name = key.slice(start.length).split(" ")[0];
    if (operations.length)
      await new Promise<void>((resolve, reject) => {
        const finish = () => !outbox.size.peek() && resolve();
        const outbox = new Outbox(key, name, revision, {
          onReceipt: finish,
          onReload: (_payload, _remaining, text) => {
            message = text;
            finish();
          },
          onSessionEnd: (text) => reject(new ApiError("unauthorised", text, 401)),
        });
        outbox.failure.subscribe((failure) => {
          if (failure === null) return;
          outbox.close();
          reject(new ApiError("away", failure, 0));
        });
        for (const operation of operations) outbox.add(operation);
      });
    storage?.removeItem(key);
  }
  return message;
}
