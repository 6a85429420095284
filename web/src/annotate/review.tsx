// The review page: where the adjudicator decided otherwise than the annotator, and why.
import type { Entity } from "../common/http";
import { type Label, loadReview, type Review, type ReviewRegion } from "./api";
import { LabelSummary } from "./label-summary";
import { LoadedPage, type PageProps } from "./shell";
import { countCodePoints } from "./text-index";

export function ReviewPage({ project, onSessionEnd }: PageProps) {
  return (
    <LoadedPage load={loadReview} className="session review" onSessionEnd={onSessionEnd}>
      {(review) => <ReviewDocuments project={project} review={review} />}
    </LoadedPage>
  );
}

function ReviewDocuments({ project, review }: { project: PageProps["project"]; review: Review }) {
  const documents = review.documents.filter(({ regions }) => regions.length);
  const count = documents.reduce((sum, { regions }) => sum + regions.length, 0);
  const getEntity = (id: string): Entity =>
    review.entities[id] ?? { id, name: null, description: null, types: [], link: null };
  return (
    <>
      <h1>Review</h1>
      <p class="summary">
        {count === 0
          ? "Nothing to review: no adjudicated document differs from your labels."
          : `The adjudicator decided otherwise in ${count === 1 ? "one place" : `${count} places`}.`}
      </p>
      {documents.map(({ name, document, regions }) => (
        <section key={name} aria-label={document}>
          <h2>
            <a href={`#/document/${encodeURIComponent(name)}`} dir="auto">
              {document}
            </a>
          </h2>
          {regions.map((region) => (
            <RegionReview
              key={`${region.start} ${region.end}`}
              region={region}
              scheme={project.scheme}
              getEntity={getEntity}
            />
          ))}
        </section>
      ))}
    </>
  );
}

function RegionReview({
  region,
  scheme,
  getEntity,
}: {
  region: ReviewRegion;
  scheme: PageProps["project"]["scheme"];
  getEntity: (id: string) => Entity;
}) {
  const [before, after] = splitContext(region.context, region.text);
  const characters = [...region.text];
  const describe = (labels: readonly Label[], emptyText: string) =>
    labels.length ? (
      <ul>
        {labels.map((label, index) => (
          <li key={index}>
            <LabelSummary
              label={label}
              surface={characters.slice(label.start - region.start, label.end - region.start).join("")}
              scheme={scheme}
              getEntity={getEntity}
            />
          </li>
        ))}
      </ul>
    ) : (
      <p class="quiet">{emptyText}</p>
    );
  return (
    <article class="region-review">
      <p class="passage" dir="auto">
        {before}
        <mark class="now">{region.text}</mark>
        {after}
      </p>
      <div class="sides">
        <div>
          <h3>Your labels</h3>
          {describe(region.yours, "No label")}
        </div>
        <div>
          <h3>Decision</h3>
          {describe(region.gold, "No label")}
        </div>
      </div>
      {region.reason && (
        <p class="reason-text" dir="auto">
          {region.reason}
        </p>
      )}
    </article>
  );
}

/** Split the context around the region; the region is the occurrence nearest to the middle. */
function splitContext(context: string, text: string): [string, string] {
  const middle = (context.length - text.length) / 2;
  let best = -1;
  for (let index = text ? context.indexOf(text) : -1; index >= 0; index = context.indexOf(text, index + 1))
    if (best < 0 || Math.abs(index - middle) < Math.abs(best - middle)) best = index;
  if (best < 0 || !countCodePoints(text)) return [context, ""];
  return [context.slice(0, best), context.slice(best + text.length)];
}
