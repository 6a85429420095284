// The labels of a document as the page shows them, and changes of them.
import { type Signal, signal } from "@preact/signals";
import type { Entity } from "../common/http";
import type { AnnotatedLabel, EntityMap, Finding, Label, LabelEdit } from "./api";
import { type Span, TextIndex } from "./text-index";

/** A label or an open suggestion; the level is the row of its line below the text. */
export interface Mark {
  id: string;
  label: Label;
  note: string;
  isSuggestion: boolean;
  level: number;
}

export type LabelState = AnnotatedLabel | null | undefined;

const compareMarks = (a: Mark, b: Mark): number =>
  a.label.start - b.label.start || b.label.end - a.label.end || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Drop fields at their default, so that equal labels have equal texts. */
export function cleanLabel(label: Label): Label {
  const entries = Object.entries(label).filter(
    ([name, value]) =>
      name === "entity" || !(value === null || value === false || (Array.isArray(value) && !value.length)),
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as unknown as Label;
}

const stateText = (state: LabelState): string =>
  state
    ? JSON.stringify([Object.entries(cleanLabel(state.label)).sort(([a], [b]) => (a < b ? -1 : 1)), state.note ?? ""])
    : String(state);

export const isEqualState = (a: LabelState, b: LabelState): boolean => stateText(a) === stateText(b);

export class LabelDocument {
  readonly index: TextIndex;
  readonly version = signal(0);
  readonly findings = signal<Finding[]>([]);
  readonly pieceVersions: Signal<number>[];
  marks: Mark[] = [];
  private readonly states = new Map<string, AnnotatedLabel | null>();
  private readonly suggestions = new Map<string, Label>();
  private readonly marksById = new Map<string, Mark>();
  private severities = new Map<string, string>(); // of findings, by span

  constructor(
    text: string,
    /** The evaluation span. */
    readonly span: Span,
    readonly entities: EntityMap,
  ) {
    this.index = new TextIndex(text);
    this.pieceVersions = this.index.pieces.map(() => signal(0));
  }

  /** Replace all labels and suggestions. */
  reset(
    labels: readonly (AnnotatedLabel & { id: string })[],
    rejected: readonly string[],
    suggestions: readonly { id: string; label: Label }[],
  ): void {
    this.states.clear();
    this.suggestions.clear();
    for (const { id, label, note } of labels) this.states.set(id, { label, note });
    for (const id of rejected) this.states.set(id, null);
    for (const { id, label } of suggestions) this.suggestions.set(id, label);
    this.marksById.clear();
    for (const id of [...this.states.keys(), ...this.suggestions.keys()]) this.updateMark(id);
    this.arrange();
    for (const version of this.pieceVersions) version.value++;
    this.version.value++;
  }

  getState(id: string): LabelState {
    return this.states.get(id);
  }

  getMark(id: string | null): Mark | null {
    return (id !== null && this.marksById.get(id)) || null;
  }

  /** List the labels that are no suggestions. */
  getLabels(): AnnotatedLabel[] {
    return this.marks.filter((mark) => !mark.isSuggestion).map(({ label, note }) => ({ label, note }));
  }

  getSurface({ start, end }: { start: number; end: number }): string {
    return this.index.slice(start, end);
  }

  getEntity(id: string): Entity {
    return this.entities[id] ?? { id, name: null, description: null, types: [], link: null };
  }

  /** Apply edits and return those that take them back. */
  apply(edits: readonly LabelEdit[]): LabelEdit[] {
    const changedSpans: Span[] = [];
    const noteSpan = (id: string) => {
      const mark = this.marksById.get(id);
      if (mark) changedSpans.push([mark.label.start, mark.label.end]);
    };
    const inverse = edits.map(({ id }) => ({ id, after: this.states.get(id) })).reverse();
    for (const { id, after } of edits) {
      noteSpan(id);
      if (after === undefined) this.states.delete(id);
      else this.states.set(id, after);
      this.updateMark(id);
      noteSpan(id);
    }
    for (const { label } of this.arrange()) changedSpans.push([label.start, label.end]);
    this.redraw(changedSpans);
    this.version.value++;
    return inverse;
  }

  /** Draw the pieces again that some spans touch. */
  redraw(spans: readonly Span[]): void {
    const pieces = new Set(spans.flatMap(([start, end]) => this.index.getPieces(start, end)));
    for (const piece of pieces) this.pieceVersions[piece.index].value++;
  }

  setFindings(findings: Finding[]): void {
    const oldFindings = this.findings.peek();
    if (JSON.stringify(oldFindings) === JSON.stringify(findings)) return;
    this.findings.value = findings;
    this.severities = new Map();
    for (const { start, end, severity } of findings) {
      const key = `${start} ${end}`;
      if (severity !== "hint" || !this.severities.has(key)) this.severities.set(key, severity);
    }
    const spans = [...oldFindings, ...findings].map(({ start, end }): Span => [start ?? 0, end ?? 0]);
    this.redraw(spans.filter(([start, end]) => start < end));
  }

  /** Get the severity of the findings at a mark, if there are any. */
  getSeverity({ label }: Mark): string | undefined {
    return this.severities.get(`${label.start} ${label.end}`);
  }

  getFindings(mark: Mark): Finding[] {
    const { start, end } = mark.label;
    return this.findings.value.filter((finding) => finding.start === start && finding.end === end);
  }

  private updateMark(id: string): void {
    const state = this.states.get(id);
    const suggestion = this.suggestions.get(id);
    const level = this.marksById.get(id)?.level ?? -1;
    if (state) this.marksById.set(id, { id, label: state.label, note: state.note ?? "", isSuggestion: false, level });
    else if (state === undefined && suggestion)
      this.marksById.set(id, { id, label: suggestion, note: "", isSuggestion: true, level });
    else this.marksById.delete(id);
  }

  /** Sort the marks and assign levels so that no lines overlap; return the marks whose level changed. */
  private arrange(): Mark[] {
    this.marks = [...this.marksById.values()].sort(compareMarks);
    const changedMarks: Mark[] = [];
    const ends: number[] = [];
    for (const mark of this.marks) {
      let level = ends.findIndex((end) => end <= mark.label.start);
      if (level < 0) level = ends.length;
      ends[level] = mark.label.end;
      if (mark.level === level) continue;
      mark.level = level;
      changedMarks.push(mark);
    }
    return changedMarks;
  }

  /** List the marks that touch a span. */
  getMarks(start: number, end: number): Mark[] {
    return this.marks.filter(({ label }) => label.start < end && label.end > start);
  }

  getMarksAt(start: number, end: number): Mark[] {
    return this.marks.filter(({ label }) => label.start === start && label.end === end);
  }

  /** List the other labels of the same mention: alternatives first, then parts. */
  getRelatives(mark: Mark): { alternatives: Mark[]; parts: Mark[]; whole: Mark | null } {
    const { mention_id, parent } = mark.label;
    const labels = this.marks.filter((other) => !other.isSuggestion && other.id !== mark.id);
    return {
      alternatives: mention_id ? labels.filter((other) => other.label.mention_id === mention_id) : [],
      parts: mention_id ? labels.filter((other) => other.label.parent === mention_id) : [],
      whole: (parent && labels.find((other) => other.label.mention_id === parent)) || null,
    };
  }
}
