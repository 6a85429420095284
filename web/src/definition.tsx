// Definitions with a worked example, which a button opens.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { CategoryInfo, FacetScores } from "./shape";

/** A button that opens a definition; by default its label is a question mark. */
export function Definition({ title, label, children }: { title: string; label?: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <>
      <button
        type="button"
        class={label ? "definition" : "definition mark"}
        popovertarget={id}
        aria-label={`definition of ${title}`}
      >
        {label ?? "?"}
      </button>
      <div id={id} popover="auto" class="card-of-definition" role="dialog" aria-label={title}>
        <h2>{title}</h2>
        {children}
        <p>
          <button type="button" popovertarget={id} popovertargetaction="hide">
            close
          </button>
        </p>
      </div>
    </>
  );
}

/** A text in which brackets mark mentions, such as `[Rome → Italy]`. */
function MarkedText({ text }: { text: string }) {
  return (
    <span dir="auto">
      {text.split(/\[([^\]]+?) → ([^\]]+)\]/).map((part, index, parts) =>
        index % 3 === 0 ? (
          part
        ) : index % 3 === 1 ? (
          <mark key={index}>
            {part} → {parts[index + 1]}
          </mark>
        ) : null,
      )}
    </span>
  );
}

/** A text in which backquotes mark values. */
function TextWithValues({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

export function CategoryDefinition({ category, label }: { category: CategoryInfo; label?: string }) {
  const { example } = category;
  return (
    <Definition title={category.title} label={label}>
      <p>{category.description}</p>
      <p>
        {category.total_description
          ? `Error rate: share of ${category.total_description}.`
          : "Only errors are counted; there is no error rate."}
      </p>
      {example && (
        <dl>
          <dt>Example, gold</dt>
          <dd>
            <MarkedText text={example.gold} />
          </dd>
          <dt>Predictions</dt>
          <dd>
            <MarkedText text={example.predictions} />
          </dd>
          <dt>Result</dt>
          <dd>
            {example.errors} error{example.errors === 1 ? "" : "s"}
            {example.total !== null && ` of ${example.total} possible`}
          </dd>
        </dl>
      )}
    </Definition>
  );
}

export function FacetDefinition({ facet }: { facet: FacetScores }) {
  return (
    <Definition title={facet.title} label="definition">
      <p>
        <TextWithValues text={facet.description} />
      </p>
      {facet.example && (
        <dl>
          <dt>Example</dt>
          <dd>
            <TextWithValues text={facet.example} />
          </dd>
        </dl>
      )}
    </Definition>
  );
}
