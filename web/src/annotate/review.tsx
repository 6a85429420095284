// The review page: where the adjudicator decided otherwise than the annotator, and why.
import type { Entity } from "../common/http";
import { Stretch } from "../text";
import { type Label, loadReview, type Review, type ReviewRegion } from "./api";
import { LabelGroups } from "./label-summary";
import { LoadedPage, type PageProps } from "./shell";

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
            <a href={`#/document/${name}`} dir="auto">
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
  const stretch = new Stretch(region.context_start, region.context);
  const describe = (labels: readonly Label[], emptyText: string) =>
    labels.length ? (
      <LabelGroups
        labels={labels.map((label) => ({ label }))}
        getSurface={({ start, end }) => stretch.slice(start, end)}
        scheme={scheme}
        getEntity={getEntity}
      />
    ) : (
      <p class="quiet">{emptyText}</p>
    );
  return (
    <article class="region-review">
      <p class="passage" dir="auto">
        {stretch.slice(stretch.start, region.start)}
        <mark class="now">{region.text}</mark>
        {stretch.slice(region.end, stretch.end)}
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
