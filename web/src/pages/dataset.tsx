// Statistics and possible errors of a gold standard.

import {
  DatasetSelect,
  EntityLink,
  formatCount,
  formatNumber,
  GoldEntities,
  getRowLimit,
  getSelectedDataset,
  getVisibleTracks,
  HiddenSystems,
  Loader,
  MentionContext,
  MoreLink,
  systemName,
  Toolbar,
  useData,
  useResource,
  useTexts,
} from "../components";
import { CORRECT_LINK, countItems, type Data, UNCOUNTED_CASE, WRONG_LINK } from "../data";
import type { Page } from "../page";
import * as resources from "../resources";
import { currentUrl, pageUrl, route } from "../route";
import type { DatasetResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";
import { NoCases } from "./cases";

export function GoldStandard() {
  const dataset = getSelectedDataset((item) => item.cases)!;
  const state = useResource(() => resources.loadResource("dataset", dataset.key), dataset.key);
  if (!dataset.cases)
    return (
      <>
        <Toolbar>
          <DatasetSelect />
        </Toolbar>
        <NoCases />
      </>
    );
  return (
    <Loader state={useData(dataset.key)}>
      {(data) => (
        <Loader state={state}>
          {(resource) => <GoldReport data={data} resource={resource} dataset={dataset.key} />}
        </Loader>
      )}
    </Loader>
  );
}

function GoldReport({ data, resource, dataset }: { data: Data; resource: DatasetResource; dataset: string }) {
  const { gold } = data.resource;
  const getKind = (t: number, g: number) => data.getKind(t, g);
  // Skip systems that reproduce the gold standard.
  const judgeTracks = getVisibleTracks(data).filter((t) =>
    gold.start.some((_, g) => getKind(t, g) !== CORRECT_LINK && getKind(t, g) !== UNCOUNTED_CASE),
  );
  const contradictions = gold.start.flatMap((_, g) => {
    if (
      !judgeTracks.length ||
      judgeTracks.some((t) => getKind(t, g) === CORRECT_LINK || getKind(t, g) === UNCOUNTED_CASE)
    )
      return [];
    const predictions = judgeTracks
      .filter((t) => getKind(t, g) === WRONG_LINK)
      .map((t) => data.tracks[t].entity[data.rowByGold[t][g]]);
    const [topPrediction] = countItems(predictions);
    return [
      {
        g,
        prediction: topPrediction?.[0] ?? null,
        agreeCount: topPrediction?.[1] ?? 0,
        disagreeCount: predictions.length,
      },
    ];
  });
  const disagreements = contradictions
    .filter((item) => item.agreeCount > 0)
    .sort((a, b) => b.disagreeCount - a.disagreeCount || b.agreeCount - a.agreeCount || a.g - b.g);
  const visibleItems = disagreements.slice(0, getRowLimit());
  const texts = useTexts(
    dataset,
    data,
    visibleItems.map((item) => gold.document[item.g]),
  );
  const columns: Column[] = [
    { title: "mention" },
    { title: "gold" },
    { title: "top prediction" },
    { title: "agree", kind: "number" },
    { title: "disagree with gold", kind: "number" },
    { title: "document", isMinor: true },
  ];
  const rows = visibleItems.map(({ g, prediction, agreeCount, disagreeCount }): Cell[] => {
    const doc = gold.document[g];
    return [
      {
        text: data.getGoldSurface(g),
        content: (
          <a
            class="plain"
            href={pageUrl("text", {
              dataset,
              doc: data.resource.documents[doc].id,
              at: `${gold.start[g]}-${gold.end[g]}`,
            })}
          >
            <MentionContext
              stretches={texts.value?.get(doc)}
              start={gold.start[g]}
              end={gold.end[g]}
              surface={data.getGoldSurface(g)}
            />
          </a>
        ),
      },
      { text: data.getName(gold.entity[g]), content: <GoldEntities data={data} mention={g} dataset={dataset} /> },
      { text: data.getName(prediction!), content: <EntityLink data={data} entity={prediction!} dataset={dataset} /> },
      {
        text: `${agreeCount} of ${judgeTracks.length}`,
        content: (
          <a
            href={pageUrl("cases", {
              dataset,
              doc: data.resource.documents[doc].id,
              surface: data.getGoldSurface(g),
              entity: data.getId(prediction!),
            })}
          >
            <span class="figure">
              {agreeCount} of {judgeTracks.length}
            </span>
          </a>
        ),
      },
      {
        text: `${disagreeCount} of ${judgeTracks.length}`,
        isBest: disagreeCount === judgeTracks.length,
        content: (
          <a
            href={pageUrl("cases", {
              dataset,
              doc: data.resource.documents[doc].id,
              surface: data.getGoldSurface(g),
              kind: data.resource.kinds[WRONG_LINK],
            })}
          >
            <span class="figure">
              {disagreeCount} of {judgeTracks.length}
            </span>
          </a>
        ),
      },
      {
        text: data.resource.documents[doc].id,
        content: (
          <span class="quiet" dir="auto">
            {data.getTitle(doc)}
          </span>
        ),
      },
    ];
  });
  const count = data.countCorrect(judgeTracks).filter((correctCount) => correctCount >= 0).length;
  const rule = route.value.query.rule;
  const findings = resource.findings.filter((finding) => !rule || finding.rule === rule).slice(0, 100);
  const figures = resource.statistics.filter(([, value]) => value !== null && value !== "");
  const unanimousCount = disagreements.filter((item) => item.disagreeCount === judgeTracks.length).length,
    sameCount = disagreements.filter((item) => item.agreeCount === judgeTracks.length).length;
  return (
    <>
      <h1 class="summary">
        <b>{resource.dataset}</b>: {formatCount(data.resource.documents.length, "document")},{" "}
        {formatCount(gold.start.length, "mention")}
        {count < gold.start.length && `, ${formatNumber(count)} of which count`}.{" "}
        {judgeTracks.length > 1 && (
          <>
            No system links{" "}
            <b>
              <a
                href={pageUrl("cases", {
                  dataset,
                  system: systemName(data.tracks[judgeTracks[0]].system),
                  who: "none",
                })}
              >
                {formatNumber(contradictions.length)}
              </a>
            </b>{" "}
            of them correctly.{" "}
            {unanimousCount > 0 && (
              <>
                Every system links <b>{formatNumber(unanimousCount)}</b> of them to another entity
                {sameCount > 0 && (
                  <>, {sameCount === unanimousCount ? "" : `${formatNumber(sameCount)} of them `}all to the same one</>
                )}
                .{" "}
              </>
            )}
          </>
        )}
        The linter reports{" "}
        {formatCount(
          resource.rules.reduce((sum, rule) => sum + rule[3], 0),
          "finding",
        )}
        .
      </h1>
      <Toolbar>
        <DatasetSelect predicate={(item) => item.cases} />
        <HiddenSystems />
      </Toolbar>
      {disagreements.length > 0 && (
        <>
          <h2>Gold labels that no system agrees with</h2>
          <Sheet name="Gold labels that no system agrees with" columns={columns} rows={rows} />
          <MoreLink count={visibleItems.length} total={disagreements.length} unit="mentions" />
        </>
      )}
      {resource.rules.length > 0 && (
        <>
          <h2>Lint findings</h2>
          <Sheet
            name="Lint findings"
            columns={[{ title: "rule" }, { title: "severity" }, { title: "findings", kind: "number" }]}
            rows={resource.rules.map(([name, title, severity, count]): Cell[] => [
              { text: title, content: <a href={currentUrl({ rule: rule === name ? "" : name })}>{title}</a> },
              { text: severity },
              { text: formatNumber(count), content: <a href={currentUrl({ rule: name })}>{formatNumber(count)}</a> },
            ])}
          />
          <ul class="findings">
            {findings.map((finding, index) => (
              <li key={index}>
                {finding.document >= 0 && finding.start >= 0 ? (
                  <a
                    href={pageUrl("text", {
                      dataset,
                      doc: data.resource.documents[finding.document]?.id,
                      at: `${finding.start}-${finding.end}`,
                    })}
                    dir="auto"
                  >
                    {finding.surface || `${finding.start}–${finding.end}`}
                  </a>
                ) : finding.document >= 0 ? (
                  <a href={pageUrl("text", { dataset, doc: data.resource.documents[finding.document]?.id })} dir="auto">
                    {data.getTitle(finding.document)}
                  </a>
                ) : (
                  <b>whole corpus</b>
                )}{" "}
                <span class="quiet">
                  {finding.description} {finding.proposal}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <div class="columns">
        <section>
          <h2>Statistics</h2>
          <dl>
            {figures.map(([name, value]) => (
              <>
                <dt key={name}>{name}</dt>
                <dd>{typeof value === "number" ? formatNumber(value) : value}</dd>
              </>
            ))}
          </dl>
        </section>
        {resource.types.length > 0 && (
          <section>
            <h2>Types</h2>
            <dl>
              {resource.types.slice(0, 30).map(([name, count]) => (
                <>
                  <dt key={name} dir="auto">
                    <a href={pageUrl("cases", { dataset, type: name })}>{name}</a>
                  </dt>
                  <dd>{formatNumber(count)}</dd>
                </>
              ))}
            </dl>
          </section>
        )}
        {resource.mention_types.length > 0 && (
          <section>
            <h2>Mention types</h2>
            <dl>
              {resource.mention_types.map(([name, count]) => (
                <>
                  <dt key={name}>{name}</dt>
                  <dd>{formatNumber(count)}</dd>
                </>
              ))}
            </dl>
          </section>
        )}
      </div>
    </>
  );
}

export const PAGE: Page = { title: "Gold standard", group: "Data", position: 10, Content: GoldStandard };
