// The card of a region: the gold mentions in it, and what each system predicts there.
import type { Signal } from "@preact/signals";
import { EntityLink, entityPageUrl, KIND_CLASS, KindLabel, systemName, systemTitle } from "./components";
import { type Data, UNCOUNTED_CASE } from "./data";
import { BarSample } from "./document";
import { PassageButtons } from "./passage";
import type { Region } from "./regions";
import { pageUrl, updateQuery } from "./route";

/** The region under the pointer and the track in it, -1 for none. */
export interface HoverTarget {
  doc: number;
  index: number;
  track: number;
}

/** The card of the region under the pointer, or of the selected region. */
export function RegionCard({
  data,
  dataset,
  getRegions,
  tracks,
  selection,
  hover,
}: {
  data: Data;
  dataset: string;
  getRegions: (doc: number) => readonly Region[];
  tracks: readonly number[];
  selection: { doc: number; index: number };
  hover: Signal<HoverTarget | null>;
}) {
  const { doc, index } = hover.value ?? selection;
  const region = getRegions(doc)[index];
  if (!region)
    return (
      <aside class="card" aria-label="Region details">
        <p class="quiet">
          Hover over a mention or a bar, or press <kbd>n</kbd> for the next region.
        </p>
      </aside>
    );
  const { gold } = data.resource;
  const goldRows = region.bars.filter((bar) => bar.track < 0).map((bar) => bar.row);
  const goldTypes = (g: number) => data.resource.types[gold.types[g]];
  return (
    <aside class="card" aria-label="Region details">
      <button type="button" class="close" onClick={() => updateQuery({ at: "" }, true)}>
        close
      </button>
      {goldRows.map((g) => (
        <section key={g}>
          <h2 dir="auto">{data.getGoldSurface(g)}</h2>
          <p>
            <BarSample kind={gold.optional[g] ? "label optional" : "label"} /> gold:{" "}
            <EntityDetails data={data} entity={gold.entity[g]} dataset={dataset} showDescription />
            {gold.optional[g] ? <span class="quiet"> (optional)</span> : null}
            {(gold.alternatives[g] ?? []).map((alternative) => (
              <>
                <span class="quiet"> or </span>
                <EntityDetails key={alternative} data={data} entity={alternative} dataset={dataset} showDescription />
              </>
            ))}
          </p>
          {goldTypes(g).length > 0 && <p class="quiet">{goldTypes(g).join(", ")}</p>}
        </section>
      ))}
      {!goldRows.length && (
        <section>
          <h2 dir="auto">{data.getSurface({ track: tracks[region.bars[0].track], row: region.bars[0].row })}</h2>
          <p class="quiet">No mention in the gold standard.</p>
        </section>
      )}
      <ul class="predictions">
        {tracks.map((t, index) => {
          const track = data.tracks[t];
          const isUncounted = (row: number) => Number(track.kind[row] === UNCOUNTED_CASE);
          const rows = data
            .getRows(t, doc)
            .filter((row) => {
              const [start, end] = data.getSpan({ track: t, row });
              return start < region.end && region.start < end;
            })
            .sort((a, b) => isUncounted(a) - isUncounted(b));
          return (
            <li key={t} class={hover.value?.track === index ? "now" : undefined}>
              <b>{systemTitle(track.system)}</b>
              {!rows.length && <p class="quiet">no prediction</p>}
              {rows.map((row) => {
                const errors = data.getErrors({ track: t, row });
                const hasPrediction = track.start[row] >= 0;
                const [start, end] = data.getSpan({ track: t, row });
                const isWhole =
                  goldRows.length === 1 && start === gold.start[goldRows[0]] && end === gold.end[goldRows[0]];
                return (
                  <p key={row}>
                    <BarSample kind={KIND_CLASS[track.kind[row]]} />{" "}
                    {!isWhole && <span dir="auto">“{data.getSurface({ track: t, row })}” </span>}
                    <KindLabel data={data} kind={track.kind[row]} />
                    <span class="reason">: {data.getReason({ track: t, row })}</span>{" "}
                    {hasPrediction && (
                      <EntityDetails
                        data={data}
                        entity={track.entity[row]}
                        dataset={dataset}
                        showDescription={!goldRows.some((g) => gold.entity[g] === track.entity[row])}
                      />
                    )}
                    {track.score.length > 0 && track.score[row] !== null && (
                      <span class="quiet">, score {track.score[row]}</span>
                    )}
                    {track.candidates.length > 0 &&
                      track.candidates[row] > 0 &&
                      hasPrediction &&
                      track.gold[row] >= 0 && (
                        <span class="quiet">
                          , {track.candidates[row]} candidate{track.candidates[row] === 1 ? "" : "s"},{" "}
                          {track.rank[row] ? `gold entity at rank ${track.rank[row]}` : "gold entity not among them"}
                        </span>
                      )}
                    {errors.length > 0 && (
                      <span class="errors">
                        {errors.map((error) => (
                          <a
                            key={error}
                            href={pageUrl("cases", { dataset, system: systemName(track.system), error })}
                            title={data.getCategory(error).description}
                          >
                            {data.getCategory(error).title}
                          </a>
                        ))}{" "}
                        <span class="quiet">{data.getCategory(errors[1] ?? errors[0]).description}</span>
                      </span>
                    )}
                  </p>
                );
              })}
            </li>
          );
        })}
      </ul>
      <PassageButtons
        data={data}
        dataset={dataset}
        doc={doc}
        region={region}
        regions={getRegions(doc)}
        tracks={tracks}
      />
      {goldRows.length > 0 && (
        <p>
          <a href={pageUrl("mention", { dataset, surface: data.getGoldSurface(goldRows[0]) })}>
            All mentions of “{data.getGoldSurface(goldRows[0])}”
          </a>
        </p>
      )}
    </aside>
  );
}

/** A link to an entity, with its id and optionally its description. */
function EntityDetails({
  data,
  entity,
  dataset,
  showDescription,
}: {
  data: Data;
  entity: number;
  dataset: string;
  showDescription?: boolean;
}) {
  const url = entity >= 0 ? entityPageUrl(data.getId(entity)) : null;
  return (
    <>
      <EntityLink data={data} entity={entity} dataset={dataset} showId={false} />
      {entity >= 0 && data.getName(entity) !== data.getId(entity) && (
        <span class="quiet id">
          {" "}
          {url ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {data.getId(entity)}
            </a>
          ) : (
            data.getId(entity)
          )}
        </span>
      )}
      {showDescription && data.getDescription(entity) && (
        <span class="quiet" dir="auto">
          , {data.getDescription(entity)}
        </span>
      )}
    </>
  );
}
