// What an annotator does in a text: the cursor, the current mark, and changes of labels.
import { batch, signal } from "@preact/signals";
import { createId, type Entity, searchEntities } from "../common/http";
import type { Proposal } from "../common/search";
import type { AnnotatedLabel, Dimension, DocumentPayload, DocumentState, Label, LabelEdit, Project } from "./api";
import { cleanLabel, LabelDocument, type Mark } from "./labels";
import type { Operation, Receipt } from "./outbox";
import { findLastIndex, type Span } from "./text-index";

export interface Cursor {
  start: number;
  end: number;
  /** The end that moves when the span is extended. */
  active: "start" | "end";
}

export type SearchPurpose = "link" | "alternative" | "part" | "coreference";

export type Panel =
  | { kind: "search"; purpose: SearchPurpose; isSpanChanged?: boolean }
  | { kind: "cluster" | "types" | "categories" | "note" | "history" | "help" | "skip" };

/** The purpose of the next span that the annotator marks. */
export interface SpanRequest {
  purpose: "alternative" | "part" | "move";
  id: string;
}

interface UndoEntry {
  edits: LabelEdit[];
  before: LabelEdit[];
}

/** A queue that takes operations; without one, changes stay in the page. */
export interface OperationQueue {
  add: (operation: Operation) => void;
}

const MAX_PROPOSALS = 6;
const PAUSE_MS = 60_000;
const SEARCH_DELAY_MS = 150;
const NIL_PREFIX = "NIL ";
const PERSONAL_PRONOUN = /^(he|him|his|himself|she|her|hers|herself|who|whom|whose|i|me|my|mine|myself)$/i;
const PERSON_TYPE = /^(person|human|Q5|Q215627)$/i;
const PEOPLE_TYPE = /^(human population|Q33829)$/i; // knowledge bases give peoples the type of persons too

const KIND_NAMES: Readonly<Record<string, string>> = {
  quantity: "quantity",
  datetime: "date or time",
  coreference: "coreference",
  descriptive: "descriptive",
};

/** Mark a text as a unit of its own direction; `StatusText` draws it as one. */
export const isolate = (text: string): string => `\u2068${text}\u2069`;

const isUnlinked = (label: Label): boolean =>
  label.entity === undefined && label.kind !== "quantity" && label.kind !== "datetime";

const countItems = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Name what a label links to. */
export function describeTarget(label: Label, getEntity: (id: string) => Entity): string {
  if (label.kind === "quantity" || label.kind === "datetime") return KIND_NAMES[label.kind];
  if (label.entity === null) return label.nil_cluster ? `NIL (${label.nil_cluster})` : "NIL";
  if (label.entity === undefined) return "unlinked";
  const { name, id } = getEntity(label.entity);
  return name ?? id;
}

export class Editor {
  readonly document: LabelDocument;
  readonly cursor = signal<Cursor>({ start: 0, end: 0, active: "end" });
  readonly currentId = signal<string | null>(null);
  readonly panel = signal<Panel | null>(null);
  readonly spanRequest = signal<SpanRequest | null>(null);
  readonly status = signal("");
  /** What screen readers say about the cursor; the page shows it in the text. */
  readonly spokenText = signal("");
  readonly notice = signal("");
  readonly state = signal<DocumentState>("open");
  readonly canUndo = signal(false);
  readonly canRedo = signal(false);
  /** Whether the next drawing of the cursor scrolls to it. */
  needsScroll = false;
  focusText: () => void = () => {};
  /** Whether the server knows the labels by their ids. */
  hasServer = false;
  private done: UndoEntry[] = [];
  private undone: UndoEntry[] = [];
  private queue: OperationQueue = { add: () => {} };
  private pending: Operation[] = []; // not confirmed by the server yet
  private isFinishing = false; // the annotator was told what is open, and did nothing since
  private searchTimer: ReturnType<typeof setTimeout> | undefined;
  private activeMs = 0;
  private lastActivity = performance.now();

  constructor(
    readonly project: Project,
    payload: DocumentPayload,
  ) {
    this.document = new LabelDocument(payload.text, [payload.start, payload.end], payload.entities);
    this.load(payload);
    const word = this.document.index.findNextWord(payload.start) ?? [payload.start, payload.start];
    this.cursor.value = { start: word[0], end: word[1], active: "end" };
  }

  connect(queue: OperationQueue) {
    this.queue = queue;
    this.hasServer = true;
  }

  /** Show the state of the server; `remaining` are changes that it does not know yet. */
  load(payload: DocumentPayload, remaining: readonly Operation[] = []) {
    batch(() => {
      Object.assign(this.document.entities, payload.entities);
      this.document.reset(payload.labels, payload.rejected, payload.suggestions);
      this.document.setFindings(payload.findings);
      this.done = [];
      this.undone = [];
      this.pending = [...remaining];
      for (const { edits = [] } of remaining) this.done.push({ edits, before: this.document.apply(edits) });
      this.state.value = payload.state;
      this.canUndo.value = payload.can_undo || remaining.length > 0;
      this.canRedo.value = payload.can_redo && !remaining.length;
      const { start, end } = this.cursor.peek();
      if (!this.document.getMark(this.currentId.peek()))
        this.currentId.value = this.document.getMarksAt(start, end)[0]?.id ?? null;
    });
  }

  get current(): Mark | null {
    return this.document.getMark(this.currentId.value);
  }

  get surface(): string {
    const { start, end } = this.cursor.value;
    return this.document.index.slice(start, end);
  }

  get isReadOnly(): boolean {
    return this.state.peek() !== "open";
  }

  say(text: string) {
    this.status.value = text;
  }

  /** Count the time of work; pauses of more than a minute do not count. */
  noteActivity() {
    const now = performance.now();
    if (now - this.lastActivity < PAUSE_MS) this.activeMs += now - this.lastActivity;
    this.lastActivity = now;
  }

  private takeSeconds(): number {
    this.noteActivity();
    const seconds = Math.round(this.activeMs) / 1000;
    this.activeMs = 0;
    return seconds;
  }

  // The cursor.

  setCursor(start: number, end: number, active: "start" | "end" = "end", id: string | null = null) {
    const old = this.cursor.peek();
    const marks = this.document.getMarksAt(start, end);
    const mark = marks.find((item) => item.id === id) ?? marks[0] ?? null;
    this.needsScroll = true;
    this.isFinishing = false;
    batch(() => {
      this.cursor.value = { start, end, active };
      this.currentId.value = mark?.id ?? null;
      this.document.redraw([
        [old.start, old.end],
        [start, end],
      ]);
    });
    this.scheduleSearch(mark !== null);
    this.say("");
    this.spokenText.value = mark ? this.describeMark(mark) : this.document.index.slice(start, end);
  }

  /** Search for the text at the cursor when it rests, so that candidates are there when the span is marked. */
  private scheduleSearch(isLabelled: boolean) {
    clearTimeout(this.searchTimer);
    if (isLabelled || this.isReadOnly || !this.project.can_search) return;
    const { query } = this;
    if (query) this.searchTimer = setTimeout(() => void searchEntities(query).catch(() => {}), SEARCH_DELAY_MS);
  }

  /** The text of the span as a query. */
  get query(): string {
    return this.surface.replace(/\s+/g, " ").slice(0, 200).trim();
  }

  describeMark(mark: Mark): string {
    const surface = this.document.getSurface(mark.label);
    const target = describeTarget(mark.label, (id) => this.document.getEntity(id));
    const state = mark.isSuggestion ? "suggested" : mark.label.optional ? "optional" : "";
    return `${isolate(surface)}: ${isolate(target)}${state && ` (${state})`}`;
  }

  selectMark(mark: Mark) {
    this.setCursor(mark.label.start, mark.label.end, "end", mark.id);
  }

  moveWord(step: 1 | -1, isExtending: boolean) {
    const { start, end, active } = this.cursor.peek();
    const { index } = this.document;
    if (!isExtending) {
      const word = step > 0 ? index.findNextWord(end) : index.findPreviousWord(start);
      if (word) this.setCursor(word[0], word[1]);
      return;
    }
    const first = index.findWord(start);
    const hasSeveral = !!first && first[1] < end;
    if (step > 0 && active === "start" && hasSeveral) {
      const word = index.findNextWord(Math.max(first[1], start + 1));
      if (word && word[0] < end) this.setCursor(word[0], end, "start");
    } else if (step > 0) {
      const word = index.findNextWord(end);
      if (word) this.setCursor(start, word[1], "end");
    } else if (active === "end" && hasSeveral) {
      const word = index.findPreviousWord(end - 1);
      if (word && word[1] > start) this.setCursor(start, word[1], "end");
    } else {
      const word = index.findPreviousWord(start);
      if (word) this.setCursor(word[0], end, "start");
    }
  }

  /** Move the active end of the span by one character. */
  moveCharacter(step: 1 | -1) {
    const { start, end, active } = this.cursor.peek();
    const offset = this.document.index.moveCharacter(active === "end" ? end : start, step);
    if (active === "end" && offset > start) this.setCursor(start, offset, "end");
    if (active === "start" && offset < end) this.setCursor(offset, end, "start");
  }

  /** Move the other end of the span with the next extension. */
  swapEnds() {
    const { start, end, active } = this.cursor.peek();
    this.setCursor(start, end, active === "end" ? "start" : "end", this.currentId.peek());
    this.say(active === "end" ? "The start moves." : "The end moves.");
  }

  /** Go to the first or last word of the part to annotate. */
  moveToBorder(border: "start" | "end") {
    const { index, span } = this.document;
    const word = border === "start" ? index.findNextWord(span[0]) : index.findPreviousWord(span[1]);
    if (word) this.setCursor(word[0], word[1]);
  }

  moveParagraph(step: 1 | -1) {
    const { index } = this.document;
    const { start } = this.cursor.peek();
    const paragraph = index.getParagraph(start);
    const isInside = step < 0 && index.getWords(paragraph)[0]?.[0] < start; // first to the start of this one
    for (let i = isInside ? paragraph : paragraph + step; i >= 0 && i < index.paragraphs.length; i += step) {
      const word = index.getWords(i)[0];
      if (word) return this.setCursor(word[0], word[1]);
    }
  }

  /** Go to the next name or number without a label: words in a row that start with a capital, or a digit. */
  moveToName() {
    const { index, span } = this.document;
    const isName = ([start, end]: Span) =>
      start >= span[0] &&
      end <= span[1] &&
      /^[\p{Lu}\p{N}]/u.test(index.slice(start, end)) &&
      !this.document.getMarks(start, end).length;
    let word = index.findNextWord(this.cursor.peek().end);
    while (word && !isName(word)) word = index.findNextWord(word[1]);
    if (!word) return this.say("No further name or number without a label.");
    let last = word;
    for (let next = index.findNextWord(last[1]); next && isName(next); next = index.findNextWord(last[1])) {
      if (index.slice(last[1], next[0]) !== " ") break;
      last = next;
    }
    this.setCursor(word[0], last[1]);
  }

  moveTo(offset: number) {
    const word = this.document.index.findWord(offset);
    if (word) this.setCursor(word[0], word[1]);
  }

  /** Select the mark at an offset, the shortest first; repeated calls go on to longer ones. */
  selectAt(offset: number) {
    const marks = this.document
      .getMarks(offset, offset + 1)
      .sort((a, b) => a.label.end - a.label.start - (b.label.end - b.label.start));
    if (!marks.length) return this.moveTo(offset);
    const currentIndex = marks.findIndex((mark) => mark.id === this.currentId.peek());
    this.selectMark(marks[(currentIndex + 1) % marks.length]);
  }

  /** Go to the next or previous mark, from the last one to the first. */
  stepMark(step: 1 | -1) {
    const { marks } = this.document;
    if (!marks.length) return this.say("No mentions.");
    if (this.isFinishing && step > 0) return this.selectMark(marks.find((mark) => this.isOpen(mark)) ?? marks[0]);
    const index = this.findMark(step);
    const mark = marks.at(index % marks.length)!;
    const isSame = mark.id === this.currentId.peek();
    this.selectMark(mark);
    if (isSame) this.say("This is the only mention.");
    else if (index >= marks.length) this.say("From the last mention to the first.");
    else if (index < 0) this.say("From the first mention to the last.");
  }

  /** Go to the next open suggestion, from the last one to the first; return whether there is one. */
  private stepSuggestion(): boolean {
    const { marks } = this.document;
    const index = this.findMark(1);
    const mark = [...marks.slice(index), ...marks.slice(0, index)].find(({ isSuggestion }) => isSuggestion);
    if (mark) this.selectMark(mark);
    return !!mark;
  }

  /** Find the index of the mark after or before the cursor; -1 or the number of marks if there is none. */
  private findMark(step: 1 | -1): number {
    const { marks } = this.document;
    const { start, end } = this.cursor.peek();
    const currentIndex = marks.findIndex((mark) => mark.id === this.currentId.peek());
    const lastBefore = findLastIndex(marks, start, (mark) => mark.label.start);
    if (currentIndex >= 0) return currentIndex + step;
    if (step < 0) return lastBefore;
    const index = marks.findIndex(({ label }) => label.start > start || (label.start === start && label.end < end));
    return index < 0 ? marks.length : index;
  }

  // Panels.

  openPanel(panel: Panel) {
    this.isFinishing = false;
    this.panel.value = panel;
  }

  closePanel() {
    batch(() => {
      this.panel.value = null;
      if (this.spanRequest.peek()?.purpose !== "part") this.spanRequest.value = null;
    });
    this.focusText();
  }

  /** Open a panel about the current label. */
  openLabelPanel(kind: "cluster" | "types" | "categories" | "note" | "history") {
    if (kind !== "cluster" && !this.current) return this.say("Select a label first.");
    if (kind === "history" && !this.hasServer) return this.say("Close the editor to see the history of the region.");
    if (kind !== "history" && !this.checkEditable()) return;
    if (kind === "categories" && !this.project.scheme.length)
      return this.say("This project has no fine-grained categories.");
    this.openPanel({ kind });
  }

  /** Open the search for an entity of the span or of the current mark. */
  openSearch(purpose: SearchPurpose) {
    if (!this.checkEditable()) return;
    this.openPanel({ kind: "search", purpose });
  }

  private checkEditable(): boolean {
    const { start, end } = this.cursor.peek();
    const [first, last] = this.document.span;
    if (this.isReadOnly) this.say("The document is finished. Reopen it to change labels.");
    else if (start < first || end > last) this.say("This text is outside the part to annotate.");
    else if (start >= end) this.say("Nothing is marked.");
    else return true;
    return false;
  }

  /** List the ids that are no candidates: an alternative has another entity than the labels of its mention. */
  getExcludedIds(purpose: SearchPurpose): string[] {
    const mark = this.document.getMark(this.currentId.peek());
    if (purpose !== "alternative" || !mark) return [];
    const { start, end } = mark.label;
    return [mark, ...this.document.getRelatives(mark).alternatives]
      .filter(({ label }) => label.start === start && label.end === end)
      .map(({ label }) => this.toEntity(label)?.id)
      .filter((id) => id !== undefined);
  }

  /** Check whether a label links to a person; null if its types are unknown. */
  private isPerson(label: Label): boolean | null {
    const entityTypes = typeof label.entity === "string" ? this.document.getEntity(label.entity).types : [];
    const types = label.types?.length ? label.types : entityTypes;
    if (!types.length) return null;
    return types.some((type) => PERSON_TYPE.test(type)) && !types.some((type) => PEOPLE_TYPE.test(type));
  }

  /** Propose entities for the span: suggestions first, then entities with this name in the document. */
  getProposals(purpose: SearchPurpose, isSpanChanged = false): Proposal[] {
    const { document } = this;
    const { start, end } = this.cursor.peek();
    const surface = this.surface.toLowerCase();
    const current = this.document.getMark(this.currentId.peek());
    const proposals: Proposal[] = [];
    const addProposal = (label: Label, reason: string) => {
      const entity = this.toEntity(label);
      if (entity && !proposals.some((proposal) => proposal.entity.id === entity.id)) proposals.push({ entity, reason });
    };
    if (purpose === "coreference") {
      const distance = ({ label }: Mark) => (label.end <= start ? start - label.end : 1e9 + label.start - end);
      const isPersonal = PERSONAL_PRONOUN.test(surface);
      const rank = ({ label }: Mark) => {
        const isPerson = isPersonal ? this.isPerson(label) : null;
        return isPerson === null ? 1 : isPerson ? 0 : 2;
      };
      for (const mark of document.marks
        .filter(({ label, isSuggestion }) => !isSuggestion && !label.kind && (label.end <= start || label.start >= end))
        .sort((a, b) => rank(a) - rank(b) || distance(a) - distance(b)))
        addProposal(mark.label, `“${document.getSurface(mark.label)}”`);
      return proposals;
    }
    if (isSpanChanged && current) addProposal(current.label, "current");
    for (const mark of document.getMarks(start, end))
      if (mark.isSuggestion && mark.label.start === start && mark.label.end === end)
        addProposal(mark.label, "suggested");
    const others = document.marks.filter((mark) => !mark.isSuggestion && mark.id !== current?.id && !mark.label.kind);
    for (const mark of others)
      if (document.getSurface(mark.label).toLowerCase() === surface) addProposal(mark.label, "same text");
    for (const mark of others)
      if (
        (mark.label.end <= start || mark.label.start >= end) &&
        isPartialName(document.getSurface(mark.label), surface)
      )
        addProposal(mark.label, "in this document");
    for (const mark of document.getMarks(start, end)) if (mark.isSuggestion) addProposal(mark.label, "suggested");
    return proposals.slice(0, MAX_PROPOSALS);
  }

  /** Describe the target of a label as an entity of the search; NIL clusters are such targets too. */
  private toEntity(label: Label): Entity | null {
    if (typeof label.entity === "string") return this.document.getEntity(label.entity);
    if (label.entity === null && label.nil_cluster)
      return {
        id: NIL_PREFIX + label.nil_cluster,
        name: label.nil_cluster,
        description: "NIL cluster",
        types: [],
        link: null,
      };
    return null;
  }

  // Changes.

  /** Apply edits at once, and send them. */
  private commit(edits: LabelEdit[], message: string, selectedId?: string) {
    const clean = edits.map(({ id, after }) => ({
      id,
      after: after ? { label: cleanLabel(after.label), ...(after.note && { note: after.note }) } : after,
    }));
    batch(() => {
      const before = this.document.apply(clean);
      this.done.push({ edits: clean, before });
      this.undone = [];
      this.canUndo.value = true;
      this.canRedo.value = false;
      this.panel.value = null;
      if (selectedId) this.selectId(selectedId);
      else if (!this.document.getMark(this.currentId.peek())) this.refreshCursor();
      this.notice.value = "";
      this.say(message);
      this.send({
        id: createId(),
        action: "changes",
        edits: clean,
        before: [...before],
        seconds: this.takeSeconds(),
        client_time: new Date().toISOString(),
      });
    });
    this.focusText();
  }

  private send(operation: Operation) {
    this.pending.push(operation);
    this.queue.add(operation);
  }

  private selectId(id: string) {
    const mark = this.document.getMark(id);
    if (mark) this.selectMark(mark);
  }

  private refreshCursor() {
    const { start, end, active } = this.cursor.peek();
    this.setCursor(start, end, active);
  }

  /** Edit the current label; an open suggestion becomes a label, and a span without label a new one. */
  private editCurrent(change: (label: Label) => Label, message: string, moreEdits: LabelEdit[] = []) {
    if (!this.checkEditable()) return;
    const mark = this.current;
    const { start, end } = this.cursor.peek();
    const id = mark?.id ?? createId();
    const label = change(mark?.label ?? { start, end });
    this.commit([{ id, after: { label, note: mark?.note } }, ...moreEdits], message, id);
  }

  /** Get the fields of a label that link it to an entity or NIL cluster. */
  private linkFields(entity: Entity): Partial<Label> {
    const isCluster = entity.id.startsWith(NIL_PREFIX);
    if (!isCluster) this.document.entities[entity.id] = entity;
    return isCluster
      ? { entity: null, name: undefined, nil_cluster: entity.id.slice(NIL_PREFIX.length) }
      : { entity: entity.id, name: undefined, nil_cluster: undefined };
  }

  selectEntity(purpose: SearchPurpose, entity: Entity) {
    const panel = this.panel.peek();
    const isKept = panel?.kind === "search" && panel.isSpanChanged && this.current?.label.entity === entity.id;
    if (isKept) return this.closePanel();
    const fields = this.linkFields(entity);
    const name = isolate(entity.name ?? entity.id);
    const isNumber = (label: Label) => label.kind === "quantity" || label.kind === "datetime";
    if (purpose === "alternative") this.addAlternative(fields, `Alternative: ${name}.`);
    else if (purpose === "part") this.addPart(fields, name);
    else if (purpose === "coreference")
      this.editCurrent((label) => ({ ...label, ...fields, same_as: [], kind: "coreference" }), `Refers to ${name}.`);
    else
      this.editCurrent(
        (label) => ({
          ...label,
          ...fields,
          same_as: [],
          ...(label.kind && { kind: undefined }),
          ...(isNumber(label) && { optional: false }),
        }),
        `Linked to ${name}.`,
      );
  }

  /** Add an alternative or a part that is NIL, a quantity or a date. */
  selectSpecial(purpose: "alternative" | "part", kind: "nil" | "quantity" | "datetime") {
    const fields: Partial<Label> =
      kind === "nil" ? { entity: null, nil_cluster: this.getClusterName() } : { entity: null, kind, optional: true };
    const name = kind === "nil" ? "NIL" : KIND_NAMES[kind];
    if (purpose === "part") this.addPart(fields, name);
    else this.addAlternative(fields, `Alternative: ${name}.`);
  }

  /** Propose the name of a NIL cluster: the text of the mention. */
  getClusterName(): string {
    return this.current?.label.nil_cluster ?? this.surface.replace(/\s+/g, " ").slice(0, 200);
  }

  /** Mark the span as a mention without a link. */
  markUnlinked() {
    this.editCurrent(({ entity: _entity, ...label }) => ({ ...label, kind: undefined }), "Marked without a link.");
  }

  makeNil(cluster: string) {
    this.editCurrent(
      (label) => ({ ...label, entity: null, same_as: [], kind: undefined, nil_cluster: cluster || undefined }),
      cluster ? `NIL, cluster ${isolate(cluster)}.` : "NIL.",
    );
  }

  /** Make the label a quantity or a date; the annotation guidelines make both optional. */
  makeKind(kind: "quantity" | "datetime") {
    this.editCurrent(
      (label) => ({ ...label, entity: null, same_as: [], nil_cluster: undefined, kind, optional: true }),
      kind === "quantity" ? "Quantity." : "Date or time.",
    );
  }

  /** Make the mention optional or required, with all its alternatives. */
  toggleOptional() {
    const mark = this.current;
    const alternatives = mark ? this.document.getRelatives(mark).alternatives : [];
    const isOptional = ![mark, ...alternatives].every((item) => item?.label.optional);
    const moreEdits = alternatives.map(({ id, label, note }) => ({
      id,
      after: { label: { ...label, optional: isOptional }, note },
    }));
    const message = isOptional ? "Optional." : "No longer optional.";
    this.editCurrent((label) => ({ ...label, optional: isOptional }), message, moreEdits);
  }

  private addAlternative(fields: Partial<Label>, message: string, span?: Span) {
    const mark = this.current;
    if (!mark) return this.say("Select a label first.");
    const mentionId = mark.label.mention_id ?? mark.id;
    const { start, end, optional, parent, categories, kind, types } = mark.label;
    const [newStart, newEnd] = span ?? [start, end];
    const label: Label = {
      start: newStart,
      end: newEnd,
      optional,
      parent,
      categories,
      mention_id: mentionId,
      ...(span && { kind, types }),
      ...fields,
    };
    const id = createId();
    this.commit([...this.addMentionId(mark), { id, after: { label } }], message, id);
  }

  /** Give a label the id of a mention, or make an open suggestion a label. */
  private addMentionId(mark: Mark): LabelEdit[] {
    if (mark.label.mention_id && !mark.isSuggestion) return [];
    const label = { ...mark.label, mention_id: mark.label.mention_id ?? mark.id };
    return [{ id: mark.id, after: { label, note: mark.note } }];
  }

  /** Ask for another span: an alternative of the current label, its parts, or its new borders. */
  requestSpan(purpose: SpanRequest["purpose"]) {
    const mark = this.current;
    if (!mark || !this.checkEditable()) return this.say("Select a label first.");
    this.spanRequest.value = { purpose, id: mark.id };
    this.say(
      {
        alternative: "Mark the other span, then press Enter.",
        part: "Mark each part and press Enter. Escape ends.",
        move: "Mark the new span, then press Enter.",
      }[purpose],
    );
  }

  /** Use the marked span for what was requested. */
  private useSpan(request: SpanRequest) {
    const mark = this.document.getMark(request.id);
    const { start, end } = this.cursor.peek();
    if (!mark) this.spanRequest.value = null;
    if (!mark || !this.checkEditable()) return;
    if (request.purpose === "part") {
      const isInside = [mark, ...this.document.getRelatives(mark).alternatives].some(
        ({ label }) => label.start <= start && end <= label.end && label.end - label.start > end - start,
      );
      if (isInside) return this.openSearch("part");
      return this.say(`A part must be inside “${isolate(this.document.getSurface(mark.label))}”.`);
    }
    if (start === mark.label.start && end === mark.label.end) return this.say("This is the same span.");
    this.spanRequest.value = null;
    if (request.purpose === "move") {
      const label = { ...mark.label, start, end };
      this.commit([{ id: mark.id, after: { label, note: mark.note } }], "Span changed.", mark.id);
      // The entity was found for the old text, so the candidates for the new text are shown.
      if (typeof label.entity === "string" && !label.kind)
        this.openPanel({ kind: "search", purpose: "link", isSpanChanged: true });
      return;
    }
    this.currentId.value = mark.id;
    const { entity, nil_cluster, same_as } = mark.label;
    const fields = { ...(entity !== undefined && { entity }), nil_cluster, same_as };
    this.addAlternative(fields, "Alternative span.", [start, end]);
  }

  private addPart(fields: Partial<Label>, name: string) {
    const request = this.spanRequest.peek();
    const whole = this.document.getMark(request?.id ?? null);
    if (!whole) return;
    const { start, end } = this.cursor.peek();
    const id = createId();
    const parent = whole.label.mention_id ?? whole.id;
    const label: Label = { start, end, mention_id: id, parent, ...fields };
    this.commit([...this.addMentionId(whole), { id, after: { label } }], `Part: ${name}. Mark the next part.`, id);
  }

  /** Act on the span: use it for a request, accept a suggestion, or open the search. */
  confirm() {
    const request = this.spanRequest.peek();
    if (request) return this.useSpan(request);
    const mark = this.current;
    if (!mark?.isSuggestion || isUnlinked(mark.label)) return this.openSearch("link");
    if (!this.checkEditable()) return;
    const message = `Accepted: ${this.describeMark(mark)}`;
    this.commit([{ id: mark.id, after: { label: mark.label } }], message, mark.id);
    if (!this.stepSuggestion()) this.say(`${message}. No open suggestion is left.`);
  }

  /** Delete the current label with its parts, or reject the current suggestion. */
  remove() {
    const mark = this.current;
    if (!mark) return this.say("Select a label first.");
    if (!this.checkEditable()) return;
    const { parts, alternatives } = this.document.getRelatives(mark);
    const removedParts = alternatives.length ? [] : parts;
    const removedMarks = [mark, ...removedParts];
    this.commit(
      removedMarks.map(({ id }) => ({ id, after: null })),
      mark.isSuggestion ? "Rejected. N goes on." : removedParts.length ? "Deleted with its parts." : "Deleted.",
    );
  }

  toggleType(type: string) {
    const types = this.current?.label.types ?? [];
    const newTypes = types.includes(type) ? types.filter((item) => item !== type) : [...types, type];
    this.editCurrent((label) => ({ ...label, types: newTypes }), newTypes.join(", ") || "No type.");
  }

  setCategories(categories: string[]) {
    this.editCurrent((label) => ({ ...label, categories }), "Categories saved.");
  }

  setNote(note: string) {
    const mark = this.current;
    if (!mark || !this.checkEditable()) return;
    this.commit([{ id: mark.id, after: { label: mark.label, note } }], note ? "Note saved." : "Note deleted.", mark.id);
  }

  /** Give all further occurrences of the text the same label. */
  repeat() {
    const mark = this.current;
    if (!mark || mark.isSuggestion) return this.say("Select a label first.");
    if (!this.checkEditable()) return;
    const { mention_id: _mention, parent: _parent, ...fields } = mark.label;
    const edits = this.document.index
      .findOccurrences(this.surface, ...this.document.span)
      .filter(([start, end]) => !this.document.getMarksAt(start, end).some((other) => !other.isSuggestion))
      .map(([start, end]) => {
        const suggestion = this.document.getMarksAt(start, end).find((other) => other.label.entity === fields.entity);
        return { id: suggestion?.id ?? createId(), after: { label: { ...fields, start, end } } };
      });
    if (!edits.length) return this.say("The text does not occur again.");
    const count = edits.length === 1 ? "one more occurrence" : `${edits.length} more occurrences`;
    this.commit(edits, `Labelled ${count}.`, mark.id);
  }

  /** Take the last change back, or repeat it; the page does not wait for the server if it knows the change. */
  stepHistory(action: "undo" | "redo") {
    if (this.isReadOnly) return this.say("The document is finished. Reopen it to change labels.");
    const isUndo = action === "undo";
    const entry = (isUndo ? this.done : this.undone).pop();
    if (!entry && !(isUndo ? this.canUndo : this.canRedo).peek())
      return this.say(isUndo ? "Nothing to undo." : "Nothing to redo.");
    batch(() => {
      if (entry) {
        (isUndo ? this.undone : this.done).push(entry);
        this.applyEdits(isUndo ? entry.before : entry.edits);
        if (isUndo) this.canRedo.value = true;
        else this.canUndo.value = true;
        if (!this.hasServer) this.canUndo.value = this.done.length > 0;
        if (!this.hasServer) this.canRedo.value = this.undone.length > 0;
      }
      this.say(isUndo ? "Undone." : "Repeated.");
      this.send({ id: createId(), action, ...(entry && { edits: [] }) });
    });
  }

  /** Apply edits that were made elsewhere, and show where. */
  private applyEdits(edits: readonly LabelEdit[]) {
    const oldMark = edits.map(({ id }) => this.document.getMark(id)).find((mark) => mark !== null);
    this.document.apply(edits);
    const mark = edits.map(({ id }) => this.document.getMark(id)).find((item) => item !== null);
    if (mark) this.selectMark(mark);
    else if (oldMark) this.setCursor(oldMark.label.start, oldMark.label.end);
    this.spanRequest.value = null;
  }

  /** Take over what the server confirmed. */
  receive(operation: Operation, receipt: Receipt, isLast: boolean) {
    this.pending = this.pending.filter(({ id }) => id !== operation.id);
    batch(() => {
      Object.assign(this.document.entities, receipt.entities);
      if (receipt.state) this.state.value = receipt.state;
      // The page did not know what to undo: the server says it.
      if ((operation.action === "undo" || operation.action === "redo") && !operation.edits && receipt.edits) {
        const { edits } = receipt;
        const inverse = edits.map(({ id }) => ({ id, after: this.document.getState(id) }));
        if (isLast && operation.action === "undo") this.undone.push({ edits: inverse, before: edits });
        else if (isLast) this.done.push({ edits, before: inverse });
        const changedIds = new Set(this.pending.flatMap((item) => item.edits ?? []).map(({ id }) => id));
        this.applyEdits(edits.filter(({ id }) => !changedIds.has(id)));
      }
      if (!isLast || receipt.revision === undefined) return;
      if (receipt.findings) this.document.setFindings(receipt.findings);
      this.canUndo.value = receipt.can_undo;
      this.canRedo.value = receipt.can_redo;
    });
  }

  /** Check whether a mark lacks a decision or a link. */
  private isOpen({ isSuggestion, label }: Mark): boolean {
    return isSuggestion || isUnlinked(label);
  }

  /** Finish the document; if something is open, name it first and finish when asked again. */
  finish() {
    if (this.isReadOnly) return;
    const openMarks = this.document.marks.filter((mark) => this.isOpen(mark));
    if (!openMarks.length || this.isFinishing) return this.changeState("finish");
    const suggestionCount = this.countOpenSuggestions();
    const unlinkedCount = openMarks.length - suggestionCount;
    const parts = [
      ...(suggestionCount ? [`${countItems(suggestionCount, "suggestion")} without a decision`] : []),
      ...(unlinkedCount ? [countItems(unlinkedCount, "unlinked label")] : []),
    ];
    this.isFinishing = true;
    this.panel.value = null;
    this.say(`${parts.join(", ")}. Press Ctrl+Enter again to finish, or N to go to the first one.`);
  }

  /** Finish, reopen or skip the document. */
  changeState(action: "finish" | "reopen" | "skip", reason = "") {
    this.panel.value = null;
    this.isFinishing = false;
    this.send({ id: createId(), action, ...(reason && { reason }) });
  }

  countOpenSuggestions(): number {
    return this.document.marks.filter((mark) => mark.isSuggestion).length;
  }

  /** Derive the category of a dimension from the other labels, where that is possible. */
  deriveCategory(dimension: Dimension): string | null {
    if (dimension.dimension !== "overlap") return null;
    const { start, end } = this.cursor.peek();
    const overlaps = this.document
      .getMarks(start, end)
      .filter(({ label, isSuggestion }) => !isSuggestion && (label.start !== start || label.end !== end));
    const isInside = overlaps.some(({ label }) => label.start <= start && label.end >= end);
    const isOutside = overlaps.some(({ label }) => label.start >= start && label.end <= end);
    const name = isInside ? (isOutside ? "Intermediate" : "Minimal") : isOutside ? "Maximal" : "None";
    return dimension.values.find(({ id }) => id === `overlap:${name}`)?.id ?? null;
  }

  /** List the labels after the change, for decisions that contain labels. */
  getLabels(): AnnotatedLabel[] {
    return this.document.getLabels();
  }
}

/** Check that a text is the first or last word of a longer name, such as a surname. */
function isPartialName(surface: string, text: string): boolean {
  const words = surface.split(/\s+/);
  const isName = words.length > 1 && words.every((word) => word[0] !== word[0]?.toLowerCase());
  return isName && [words[0], words[words.length - 1]].some((word) => word.toLowerCase() === text);
}
