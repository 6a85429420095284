// A label in words, as the cards, the review and the adjudication show it.
import type { Entity } from "../common/http";
import type { Dimension, Label } from "./api";
import { describeTarget } from "./editor";

/** List the attributes of a label in words. */
export function listAttributes(label: Label, scheme: readonly Dimension[], note = ""): string[] {
  const titles = new Map(scheme.flatMap(({ values }) => values.map(({ id, title }) => [id, title])));
  return [
    ...(label.kind === "coreference" || label.kind === "descriptive" ? [label.kind] : []),
    ...(label.optional ? ["optional"] : []),
    ...(label.parent ? ["part"] : []),
    ...(label.types ?? []),
    ...(label.categories ?? []).map((category) => titles.get(category) ?? category),
    ...(note ? [`note: ${note}`] : []),
  ];
}

/** The surface of a label, its target and its attributes. */
export function LabelSummary({
  isSuggestion = false,
  label,
  surface,
  note,
  scheme,
  getEntity,
}: {
  isSuggestion?: boolean;
  label: Label;
  surface?: string;
  note?: string;
  scheme: readonly Dimension[];
  getEntity: (id: string) => Entity;
}) {
  const attributes = [...(isSuggestion ? ["suggestion"] : []), ...listAttributes(label, scheme, note)];
  const entity = typeof label.entity === "string" ? getEntity(label.entity) : null;
  return (
    <span class="label-summary">
      {surface !== undefined && (
        <>
          <span class="surface" dir="auto">
            {surface}
          </span>{" "}
          <span class="arrow" role="img" aria-label="is linked to">
            →
          </span>{" "}
        </>
      )}
      <b dir="auto">{describeTarget(label, getEntity)}</b>
      {entity?.name && <span class="quiet id"> {entity.id}</span>}
      {attributes.length > 0 && (
        <span class="quiet" dir="auto">
          {" "}
          · {attributes.join(" · ")}
        </span>
      )}
    </span>
  );
}
