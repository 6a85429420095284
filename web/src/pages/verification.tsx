// Results of verification: outcomes, and scores before and after verification.

import {
  EmptyState,
  formatNumber,
  formatPercent,
  Loader,
  leaderboardState,
  Select,
  Toolbar,
  useResource,
} from "../components";
import { type LinkQuery, linksUrl } from "../judged-links";
import type { Page } from "../page";
import * as resources from "../resources";
import { formatFixed } from "../rounding";
import { route } from "../route";
import type { JudgeQuality, PosthocRecord, SourceRecord, VerificationFile, VerificationResource } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";
import { Whisker } from "../whisker";

export function Verification() {
  const state = useResource(() => resources.loadResource("verification"), "verification");
  return (
    <Loader state={state}>
      {(resource) =>
        resource.campaigns.length ? (
          <CampaignReport resource={resource} />
        ) : (
          <EmptyState
            isHeading
            message="No judgements yet."
            command="karat verify report CAMPAIGN.sqlite --archive FOLDER"
          />
        )
      }
    </Loader>
  );
}

const listSources = (resource: VerificationResource): [VerificationFile, SourceRecord][] =>
  resource.campaigns.flatMap((campaign) =>
    campaign.sources.map((source) => [campaign, source] as [VerificationFile, SourceRecord]),
  );
const countCell = (value: number): Cell => ({ text: formatNumber(value) });
const textCell = (text: string): Cell => ({ text });
/** Make the content of a cell open the links behind it. */
const openLinks = (cell: Cell, query: LinkQuery | null): Cell =>
  query && cell.text !== "–" && cell.text !== "0"
    ? { ...cell, content: <a href={linksUrl(query)}>{cell.content ?? cell.text}</a> }
    : cell;
const numberColumns = (...titles: string[]): Column[] => titles.map((title) => ({ title, kind: "number" }));
const datasetTitle = (campaign: VerificationFile): string =>
  campaign.judged_by === "people" ? campaign.dataset : `${campaign.dataset} (automatic judge ${campaign.judged_by})`;
const formatKappa = (value: number | null): string => (value === null ? "–" : formatFixed(value, 3));

/** The judges whose judgements the scores use: people, or one automatic judge. */
const listJudges = (campaign: VerificationFile): JudgeQuality[] =>
  campaign.judges.filter((judge) => judge.machine === (campaign.judged_by === "people" ? null : campaign.judged_by));

function CampaignReport({ resource }: { resource: VerificationResource }) {
  const names = Object.keys(resource.definitions);
  const definition = names.includes(route.value.query.reading) ? route.value.query.reading : names[0];
  const sources = listSources(resource);
  /** Make a number open the links of a source that a filter selects. */
  const openSource = (cell: Cell, campaign: VerificationFile, source: SourceRecord | null, show: string): Cell => {
    const index = resource.campaigns.indexOf(campaign);
    const sourceIndex = source ? campaign.sources.indexOf(source) : undefined;
    const query = { campaign: index, show, source: sourceIndex, reading: definition };
    return openLinks(cell, resource.has_links[index] ? query : null);
  };
  /** Make a number open the links of a pair of sources; `source` is the only one that counts, if any. */
  const openPair = (
    cell: Cell,
    campaign: VerificationFile,
    pair: VerificationFile["pairs"][number],
    show: string,
    source?: string,
  ): Cell => {
    const index = resource.campaigns.indexOf(campaign);
    const sourceIndex = source ? campaign.sources.findIndex((item) => item.source === source) : undefined;
    const query = {
      campaign: index,
      show,
      pair: campaign.pairs.indexOf(pair),
      source: sourceIndex,
      reading: definition,
    };
    return openLinks(cell, resource.has_links[index] ? query : null);
  };
  return (
    <>
      <Summary resource={resource} />
      <Legend resource={resource} />
      <h2>Links shown to judges</h2>
      <Sheet
        name="Links shown to judges"
        columns={[
          { title: "dataset" },
          { title: "source" },
          ...numberColumns("documents", "links", "tasks", "links shown", "open", "tied", "decided by the lead"),
        ]}
        rows={sources.map(([campaign, source]) => [
          textCell(datasetTitle(campaign)),
          textCell(source.source),
          countCell(campaign.documents),
          countCell(source.links),
          countCell(source.tasks),
          openSource(countCell(source.links_shown), campaign, source, "shown"),
          openSource(countCell(source.open), campaign, source, "open"),
          openSource(countCell(source.tied), campaign, source, "tied"),
          countCell(source.lead_decisions),
        ])}
      />
      <h2>Outcomes</h2>
      <p class="quiet prose">Modified links are linking errors, removed links are detection errors.</p>
      <Sheet
        name="Outcomes"
        columns={[
          { title: "dataset" },
          { title: "source" },
          { title: "outcomes" },
          ...numberColumns("verified", "modified", "removed", "verification rate"),
        ]}
        rows={sources.map(([campaign, source]) => [
          textCell(datasetTitle(campaign)),
          textCell(source.source),
          { text: "", content: <OutcomeBar source={source} /> },
          openSource(countCell(source.verified), campaign, source, "verified"),
          openSource(countCell(source.modified), campaign, source, "modified"),
          openSource(countCell(source.removed), campaign, source, "removed"),
          openSource(textCell(formatPercent(source.verification_rate)), campaign, source, "judged"),
        ])}
      />
      <h2>Precision and recall before and after verification</h2>
      <Toolbar>
        <Select label="definition" name="reading" options={names.map((name) => [name, name])} value={definition} />
      </Toolbar>
      <p class="quiet prose">
        Before: a link is correct if the original gold standard has the same entity on an overlapping span. After:{" "}
        {resource.definitions[definition]}. {describeInterval(resource)}
      </p>
      {resource.campaigns
        .filter((campaign) => campaign.recall_undefined !== null)
        .map((campaign) => (
          <p key={campaign.campaign} class="quiet prose">
            {campaign.scores_undefined === null ? "No recall after verification" : "No precision and recall"} of{" "}
            {datasetTitle(campaign)}: {campaign.recall_undefined}.
          </p>
        ))}
      <Sheet
        name="Precision and recall"
        columns={[
          { title: "dataset" },
          { title: "source" },
          ...numberColumns("precision before", "precision after", "recall before", "recall after"),
        ]}
        rows={sources.map(([campaign, source]) => [
          textCell(datasetTitle(campaign)),
          textCell(source.source),
          ...(["precision", "recall"] as const).flatMap((measure) => [
            openSource(scoreCell(source.original.weak, measure), campaign, source, "before"),
            openSource(
              scoreCell(source.posthoc[definition], measure),
              campaign,
              source,
              measure === "precision" ? "counted" : "after",
            ),
          ]),
        ])}
      />
      <h2>Pairs of sources</h2>
      <p class="quiet prose">
        Union: distinct links of both sources that judges accepted. Shared links have the same span and entity.
        Agreement: shared links with the same outcome for both sources.
      </p>
      <Sheet
        name="Pairs of sources"
        columns={[
          { title: "dataset" },
          { title: "first source" },
          { title: "second source" },
          ...numberColumns(
            "union",
            "verification rate",
            "recall of first",
            "recall of second",
            "shared links",
            "rate of shared",
            "agreement",
            "rate of first only",
            "rate of second only",
          ),
        ]}
        rows={resource.campaigns.flatMap((campaign) =>
          campaign.pairs.map((pair) => [
            textCell(datasetTitle(campaign)),
            textCell(pair.source_a),
            textCell(pair.source_b),
            openPair(countCell(pair.posthoc[definition].union), campaign, pair, "pair-union"),
            openPair(textCell(formatPercent(pair.rate)), campaign, pair, "pair-judged"),
            openPair(textCell(formatPercent(pair.posthoc[definition].recall_a)), campaign, pair, "pair-union"),
            openPair(textCell(formatPercent(pair.posthoc[definition].recall_b)), campaign, pair, "pair-union"),
            openPair(countCell(pair.shared), campaign, pair, "shared"),
            openPair(textCell(formatPercent(pair.shared_rate)), campaign, pair, "shared-judged"),
            openPair(textCell(formatPercent(pair.agreement)), campaign, pair, "shared-same"),
            openPair(textCell(formatPercent(pair.rate_only_a)), campaign, pair, "only", pair.source_a),
            openPair(textCell(formatPercent(pair.rate_only_b)), campaign, pair, "only", pair.source_b),
          ]),
        )}
      />
      <h2>Judges</h2>
      <Sheet
        name="Judges"
        columns={[
          { title: "dataset" },
          ...numberColumns(
            "judges",
            "judges who failed the controls",
            "median seconds",
            "links with several judgements",
            "agreement",
            "kappa",
            "alpha",
            "missing from gold",
          ),
        ]}
        rows={resource.campaigns.map((campaign) => [
          textCell(datasetTitle(campaign)),
          countCell(listJudges(campaign).length),
          countCell(listJudges(campaign).filter((judge) => judge.control_result === "failed").length),
          textCell(campaign.seconds[1] === null ? "–" : formatFixed(campaign.seconds[1], 1)),
          openSource(countCell(campaign.agreement.items), campaign, null, "several"),
          openSource(textCell(formatPercent(campaign.agreement.observed)), campaign, null, "agreed"),
          openSource(textCell(formatKappa(campaign.agreement.kappa)), campaign, null, "several"),
          openSource(textCell(formatKappa(campaign.agreement.alpha)), campaign, null, "several"),
          openSource(textCell(formatPercent(campaign.missing_from_gold[definition]?.share)), campaign, null, "missing"),
        ])}
      />
      <details>
        <summary>Each judge</summary>
        <Sheet
          name="Each judge"
          columns={[
            { title: "judge" },
            { title: "dataset" },
            ...numberColumns("judgements", "correct controls", "controls", "median seconds"),
            { title: "result" },
          ]}
          rows={resource.campaigns.flatMap((campaign) =>
            listJudges(campaign).map((judge) => [
              textCell(judge.machine ?? judge.judge),
              textCell(datasetTitle(campaign)),
              countCell(judge.judgements),
              countCell(judge.correct_controls),
              countCell(judge.controls),
              textCell(judge.median_seconds === null ? "–" : formatFixed(judge.median_seconds, 1)),
              textCell(judge.control_result),
            ]),
          )}
        />
      </details>
    </>
  );
}

/** A sentence that compares the verification rates of the gold standard and the best system. */
function Summary({ resource }: { resource: VerificationResource }) {
  const campaign = resource.campaigns[0];
  const [gold, ...systemSources] = campaign.sources;
  const bestSource = systemSources
    .filter((source) => source.verification_rate !== null)
    .sort((a, b) => b.verification_rate! - a.verification_rate!)[0];
  if (gold.verification_rate === null && campaign.scores_undefined !== null && bestSource)
    return (
      <h1 class="summary">
        Judges verified {formatPercent(bestSource.verification_rate)} % of the links of <b>{bestSource.source}</b> that
        they saw in {campaign.dataset}.
      </h1>
    );
  if (gold.verification_rate === null)
    return <h1 class="summary">The gold standard of {campaign.dataset} has no judgements yet.</h1>;
  const judgedCount = campaign.links_shown - campaign.open;
  return (
    <h1 class="summary">
      Judges verified {formatPercent(gold.verification_rate)} % of the gold links of {campaign.dataset}
      {bestSource && (
        <>
          {" "}
          and {formatPercent(bestSource.verification_rate)} % of the links of <b>{bestSource.source}</b>
        </>
      )}
      .
      {campaign.scores_undefined === null && (
        <>
          {" "}
          The gold standard lacks {formatPercent(campaign.missing_from_gold.paper?.share)} % of the links that they
          accepted{campaign.open > 0 && " so far"}.
        </>
      )}
      {campaign.open > 0 && (
        <>
          {" "}
          {formatNumber(judgedCount)} of {formatNumber(campaign.links_shown)} links are judged (
          {formatPercent(judgedCount / campaign.links_shown)} %).
        </>
      )}
    </h1>
  );
}

/** What the colours, whiskers and words mean. */
function Legend({ resource }: { resource: VerificationResource }) {
  return (
    <div class="verification-legend">
      <ul class="legend">
        {OUTCOME_LEGEND.map(([kind, name, meaning]) => (
          <li key={kind}>
            <svg class="outcomes swatch" viewBox="0 0 10 10" aria-hidden="true">
              <rect class={kind} width="10" height="10" />
            </svg>
            <b>{name}</b>: {meaning}
          </li>
        ))}
      </ul>
      <details>
        <summary>Legend of the tables</summary>
        <dl class="terms">
          <dt>open</dt>
          <dd>The link still needs judgements.</dd>
          <dt>tied</dt>
          <dd>All required judges have judged the link without a majority, and the lead has not decided.</dd>
          <dt>decided by the lead</dt>
          <dd>Ties with an outcome, because the lead decided them.</dd>
          <dt>verification rate</dt>
          <dd>Share of the links with an outcome that judges verified.</dd>
          <dt>before</dt>
          <dd>Scores against the original gold standard: same entity on an overlapping span.</dd>
          <dt>after</dt>
          <dd>Scores from the judgements, by the definition above the table.</dd>
          <dt>missing from gold</dt>
          <dd>Share of the accepted links that overlap no gold link.</dd>
          <dt>kappa, alpha</dt>
          <dd>Fleiss' kappa and Krippendorff's alpha from the last judgement of each judge on each shared link.</dd>
          {resource.campaigns[0].resamples > 0 && (
            <>
              <dt>whisker</dt>
              <dd>{describeInterval(resource)}</dd>
            </>
          )}
        </dl>
      </details>
      <p class="quiet">
        {resource.has_links.includes(true) ? (
          "Select a number to see its links."
        ) : (
          <>
            This archive has no links to open. Add them:{" "}
            <code>karat verify report CAMPAIGN.sqlite --archive FOLDER</code>
          </>
        )}
      </p>
    </div>
  );
}

const OUTCOME_LEGEND = [
  ["correct", "verified", "mention and entity are correct"],
  ["link", "modified", "another entity is meant: a linking error"],
  ["missed", "removed", "no mention of an entity: a detection error"],
] as const;

function describeInterval(resource: VerificationResource): string {
  const { confidence: level, interval_unit: unit, resamples } = resource.campaigns[0];
  return resamples ? `Whiskers: ${formatPercent(level, 0)} % confidence intervals, resampled by ${unit}.` : "";
}

/** A bar with the shares of verified, modified and removed links. */
function OutcomeBar({ source }: { source: SourceRecord }) {
  const total = source.verified + source.modified + source.removed || 1;
  const counts = [
    ["correct", source.verified],
    ["link", source.modified],
    ["missed", source.removed],
  ] as const;
  let offset = 0;
  return (
    <svg
      class="outcomes"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${source.verified} verified, ${source.modified} modified, ${source.removed} removed`}
    >
      {counts.map(([kind, count]) => {
        const x = offset;
        offset += (100 * count) / total;
        return <rect key={kind} class={kind} x={x} y="0" width={(100 * count) / total} height="10" />;
      })}
    </svg>
  );
}

function scoreCell(score: PosthocRecord | undefined, measure: "precision" | "recall"): Cell {
  const value = score?.[measure] ?? null;
  const bounds = score?.[`${measure}_interval`] ?? null;
  const clampShare = (fraction: number) => Math.max(0, Math.min(1, fraction));
  return {
    text: formatPercent(value),
    content:
      value === null ? (
        "–"
      ) : (
        <span title={bounds ? `${formatPercent(bounds[0])} to ${formatPercent(bounds[1])}` : ""}>
          <span class="figure">{formatPercent(value)}</span>
          {bounds && <Whisker interval={[bounds[0], value, bounds[1]].map(clampShare) as [number, number, number]} />}
        </span>
      ),
  };
}

export const PAGE: Page = {
  title: "Verification",
  group: "Method",
  position: 20,
  Content: Verification,
  isListed: () => leaderboardState.value!.has_verification,
};
