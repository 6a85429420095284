// A label in words, as the cards, the review and the adjudication show it.
import type { Entity } from "../common/http";
import type { AnnotatedLabel, Dimension, Label } from "./api";
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

/** Labels in a list; alternatives of one mention are listed together, followed by its parts. */
export function LabelGroups({
  labels,
  isShared,
  getSurface,
  scheme,
  getEntity,
}: {
  labels: readonly AnnotatedLabel[];
  /** Whether all versions have a label; without it, labels are not compared. */
  isShared?: (label: AnnotatedLabel) => boolean;
  getSurface: (label: Label) => string;
  scheme: readonly Dimension[];
  getEntity: (id: string) => Entity;
}) {
  const getClass = (item: AnnotatedLabel) => (isShared ? (isShared(item) ? "shared" : "differing") : "");
  const groups = new Map<string, AnnotatedLabel[]>();
  const sortedLabels = [...labels].sort((a, b) => a.label.start - b.label.start || b.label.end - a.label.end);
  for (const [position, item] of sortedLabels.entries()) {
    const key = item.label.parent ?? item.label.mention_id ?? `alone ${position}`;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return (
    <ul class="version-labels">
      {[...groups].map(([key, items]) => {
        const wholes = items.filter(({ label }) => label.parent !== key);
        const parts = items.filter(({ label }) => label.parent === key);
        return (
          <li key={key}>
            {wholes.map((item, position) => (
              <p key={position} class={getClass(item)}>
                {position > 0 && <span class="quiet">or </span>}
                <LabelSummary
                  label={item.label}
                  note={item.note}
                  surface={getSurface(item.label)}
                  scheme={scheme}
                  getEntity={getEntity}
                />
                {typeof item.label.entity === "string" && getEntity(item.label.entity).description && (
                  <span class="description quiet" dir="auto">
                    {getEntity(item.label.entity).description}
                  </span>
                )}
              </p>
            ))}
            {parts.map((item, position) => (
              <p key={`part ${position}`} class={`part ${getClass(item)}`}>
                <span class="quiet">{position === 0 && wholes.length > 0 ? "or " : "and "}</span>
                <LabelSummary
                  label={{ ...item.label, parent: undefined }}
                  note={item.note}
                  surface={getSurface(item.label)}
                  scheme={scheme}
                  getEntity={getEntity}
                />
              </p>
            ))}
          </li>
        );
      })}
    </ul>
  );
}
