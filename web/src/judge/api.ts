// What the server of a campaign says and is told (src/karat/judging/shape.py).

export interface Campaign {
  name: string;
  kind: "verify" | "survey";
  consent: string;
  guidelines: string;
  search: boolean;
  additions: boolean;
}

export interface Entity {
  id: string;
  name: string | null;
  description: string | null;
  types: string[];
  link: string | null;
}

export interface Decided {
  id: string;
  decision: string;
  becomes: Entity | null;
  chosen: string[];
}

export interface Link {
  start: number;
  end: number;
  surface: string;
  entity: Entity | null;
  options: Entity[];
  decided: Decided | null;
}

export interface Added {
  id: string;
  start: number;
  end: number;
  surface: string;
  entity: Entity;
}

export interface Task {
  task: string;
  text: string;
  links: Link[];
  added: Added[];
}

export interface Progress {
  done: number;
  batch: number | null;
  code: string | null;
}

export interface Next {
  task: Task | null;
  progress: Progress;
}

export interface Kept {
  id: string;
  decision: string;
  late: boolean;
  progress: Progress;
}

/** What a judge decides on one link; the server takes the same id once, so that it can be sent again. */
export interface Said {
  id: string;
  link: number;
  decision: string;
  becomes?: string;
  chosen?: string[];
  start?: number;
  end?: number;
  seconds: number;
  client_time: string;
}

export class Refused extends Error {
  constructor(readonly error: string, says: string) {
    super(says);
  }
}

async function ask<T>(method: string, path: string, said?: unknown): Promise<T> {
  let reply: Response;
  try {
    reply = await fetch(`api/${path}`, said === undefined ? { method } : { method, body: JSON.stringify(said), headers: { "content-type": "application/json" } });
  } catch {
    throw new Refused("away", "The server does not answer. Nothing that you decided before is lost.");
  }
  if (reply.status === 204) return undefined as T;
  const body = await reply.json().catch(() => ({ error: "internal", says: `The server answers ${reply.status}.` }));
  if (!reply.ok) throw new Refused(body.error, body.says);
  return body as T;
}

export const campaign = () => ask<Campaign>("GET", "campaign");
export const enter = (invitation: string, consent: boolean) => ask<Progress>("POST", "session", { invitation, consent });
export const leave = () => ask<void>("DELETE", "session", {});
export const next = () => ask<Next>("GET", "task");
export const judge = (task: string, said: Said) => ask<Kept>("POST", `tasks/${task}/judgements`, said);
export const skip = (task: string, reason: string) => ask<Kept>("POST", `tasks/${task}/skip`, { reason });
export const undo = (id: string) => ask<Kept>("POST", "undo", { id });
export const search = (text: string) => ask<{ entities: Entity[] }>("GET", `search?q=${encodeURIComponent(text)}`).then((found) => found.entities);
