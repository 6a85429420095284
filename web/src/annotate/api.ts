// The HTTP API of an annotation project (src/karat/web/annotation/payloads.py). Offsets count code points.
import { type Entity, sendRequest } from "../common/http";

export interface Guidelines {
  name: string;
  version: string;
  text: string;
  since: string;
}

export interface CategoryValue {
  id: string;
  title: string;
  key?: string | null;
}

export interface Dimension {
  dimension: string;
  title: string;
  values: CategoryValue[];
}

export type Role = "annotator" | "adjudicator";

export interface Project {
  name: string;
  consent: string;
  guidelines: Guidelines[];
  can_search: boolean;
  scheme: Dimension[];
  types: string[];
  role: Role | null;
  round: number;
  whitelist: string[];
  /** Differs between people, and is null without a session. */
  person: string | null;
}

/** A gold label; without `entity` it is unlinked, and with null it is NIL. */
export interface Label {
  start: number;
  end: number;
  entity?: string | null;
  same_as?: string[];
  name?: string | null;
  types?: string[];
  categories?: string[];
  difficulty?: string | null;
  kind?: "quantity" | "datetime" | "coreference" | "descriptive" | null;
  optional?: boolean;
  mention_id?: string | null;
  parent?: string | null;
  nil_cluster?: string | null;
}

export interface AnnotatedLabel {
  label: Label;
  note?: string;
}

/** The state of a label after a change: null if it is deleted or rejected, undefined if nothing is decided. */
export interface LabelEdit {
  id: string;
  after?: AnnotatedLabel | null;
}

export interface Finding {
  rule: string;
  severity: string;
  description: string;
  proposal: string;
  /** Null if the finding is about the whole text. */
  start: number | null;
  end: number | null;
}

export type DocumentState = "open" | "done" | "skipped";

export interface DocumentInfo {
  name: string;
  document: string;
  state: DocumentState;
  n_labels: number;
  round: number;
  changed: boolean;
}

export interface DocumentList {
  documents: DocumentInfo[];
  done: number;
  /** With the documents that the annotator can still get. */
  total: number;
  remaining: boolean;
}

export interface ChangedRegion {
  start: number;
  end: number;
  reason: string;
}

export type EntityMap = Record<string, Entity>;

export interface DocumentPayload {
  name: string;
  document: string;
  text: string;
  start: number;
  end: number;
  state: DocumentState;
  revision: number;
  labels: (AnnotatedLabel & { id: string })[];
  rejected: string[];
  suggestions: { id: string; label: Label }[];
  entities: EntityMap;
  findings: Finding[];
  can_undo: boolean;
  can_redo: boolean;
  guidelines: number;
  changed: ChangedRegion[];
}

export interface ChangeReceipt {
  revision: number;
  /** Null if the document is large: `loadFindings` gets them. */
  findings: Finding[] | null;
  can_undo: boolean;
  can_redo: boolean;
  entities: EntityMap;
  edits?: LabelEdit[];
}

export interface HistoryEntry {
  server_time: string;
  kind: string;
  by: string;
  before?: AnnotatedLabel | null;
  after?: AnnotatedLabel | null;
  reason: string;
}

export interface ReviewRegion {
  start: number;
  end: number;
  text: string;
  context: string;
  context_start: number;
  yours: Label[];
  gold: Label[];
  reason: string;
}

export interface Review {
  documents: { name: string; document: string; regions: ReviewRegion[] }[];
  entities: EntityMap;
}

export interface AdjudicationInfo {
  name: string;
  document: string;
  open: number;
  decided: number;
}

export interface RegionVersion {
  annotator: string;
  labels: AnnotatedLabel[];
}

export interface Region {
  start: number;
  end: number;
  digest: string;
  state: "open" | "decided";
  versions: RegionVersion[];
  choice: string | null;
  reason: string;
}

export interface Adjudication {
  name: string;
  document: string;
  text: string;
  start: number;
  end: number;
  gold: (AnnotatedLabel & { id: string })[];
  regions: Region[];
  entities: EntityMap;
  agreed: number;
}

export interface Decision {
  id: string;
  start: number;
  end: number;
  digest: string;
  choice: string;
  labels?: AnnotatedLabel[];
  reason?: string;
}

const documentPath = (name: string) => `documents/${encodeURIComponent(name)}`;
const adjudicationPath = (name: string) => `adjudication/${encodeURIComponent(name)}`;

export const loadProject = () => sendRequest<Project>("GET", "project");
export const startSession = (invitation: string, consent: boolean) =>
  sendRequest<{ role: Role; done: number; total: number }>("POST", "session", { invitation, consent });
export const endSession = () => sendRequest<void>("DELETE", "session", {});
export const loadDocuments = () => sendRequest<DocumentList>("GET", "documents");
export const reserveDocument = () => sendRequest<{ name: string | null }>("POST", "documents/next", {});
export const loadDocument = (name: string) => sendRequest<DocumentPayload>("GET", documentPath(name));
export const sendOperation = (name: string, action: string, body: object) =>
  sendRequest<ChangeReceipt & { state?: DocumentState }>("POST", `${documentPath(name)}/${action}`, body);
export const loadFindings = (name: string) =>
  sendRequest<{ revision: number; findings: Finding[] }>("GET", `${documentPath(name)}/findings`);
/** Load the history of a label; without one, adjudicators get that of the document. */
export const loadHistory = (name: string, label?: string) =>
  sendRequest<{ changes: HistoryEntry[] }>(
    "GET",
    `${documentPath(name)}/history${label === undefined ? "" : `?label=${encodeURIComponent(label)}`}`,
  ).then((result) => result.changes);
export const loadReview = () => sendRequest<Review>("GET", "review");
export const loadAdjudications = () =>
  sendRequest<{ documents: AdjudicationInfo[] }>("GET", "adjudication").then((result) => result.documents);
export const loadAdjudication = (name: string) => sendRequest<Adjudication>("GET", adjudicationPath(name));
export const sendDecision = (name: string, decision: Decision) =>
  sendRequest<Adjudication>("POST", `${adjudicationPath(name)}/decisions`, decision);
