// The HTTP API of a campaign (src/karat/web/judging/payloads.py).
import { type Entity, sendRequest } from "../common/http";

export { ApiError, type Entity } from "../common/http";

export interface Campaign {
  name: string;
  kind: "verify" | "survey";
  consent: string;
  guidelines: string;
  search: boolean;
  additions: boolean;
}

export interface DecisionRecord {
  id: string;
  decision: string;
  replacement: Entity | null;
  selected: string[];
}

export interface Link {
  start: number;
  end: number;
  surface: string;
  entity: Entity | null;
  options: Entity[];
  decision: DecisionRecord | null;
}

export interface AddedLink {
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
  added_links: AddedLink[];
}

export interface Progress {
  completed: number;
  batch: number | null;
  code: string | null;
}

export interface TaskResponse {
  task: Task | null;
  progress: Progress;
}

export interface JudgementReceipt {
  id: string;
  decision: string;
  is_late: boolean;
  progress: Progress;
}

/** A decision on one link; sending the same id again has no effect. */
export interface Judgement {
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

export const loadCampaign = () => sendRequest<Campaign>("GET", "campaign");
export const startSession = (invitation: string, consent: boolean) =>
  sendRequest<Progress>("POST", "session", { invitation, consent });
export const endSession = () => sendRequest<void>("DELETE", "session", {});
export const loadTask = () => sendRequest<TaskResponse>("GET", "task");
export const sendJudgement = (task: string, judgement: Judgement) =>
  sendRequest<JudgementReceipt>("POST", `tasks/${task}/judgements`, judgement);
export const skipTask = (task: string, reason: string) =>
  sendRequest<JudgementReceipt>("POST", `tasks/${task}/skip`, { reason });
export const undoJudgement = (id: string) => sendRequest<JudgementReceipt>("POST", "undo", { id });
