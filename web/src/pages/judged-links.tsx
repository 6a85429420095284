// The links behind a number of the verification page, with their outcomes.

import {
  EmptyState,
  formatNumber,
  getRowLimit,
  Loader,
  leaderboardState,
  MentionContext,
  MoreLink,
  Select,
  Toolbar,
  useData,
  useResource,
  useTexts,
} from "../components";
import type { Data } from "../data";
import { countOutcomes, FILTERS, hasOutcome, OUTCOME_NAMES } from "../judged-links";
import type { Page } from "../page";
import * as resources from "../resources";
import { currentUrl, pageUrl, route } from "../route";
import type { CampaignLinks, VerificationFile } from "../shape";
import { type Cell, type Column, Sheet } from "../sheet";

export function JudgedLinks() {
  const state = useResource(
    () => Promise.all([resources.loadResource("verification"), resources.loadResource("judged-links")]),
    "judged-links",
  );
  return (
    <Loader state={state}>
      {([{ campaigns, definitions }, { campaigns: links }]) => {
        const index = Number(route.value.query.campaign ?? 0);
        const campaignLinks = links[index] ?? null;
        return campaigns[index] && campaignLinks ? (
          <LinkList campaign={campaigns[index]} campaignLinks={campaignLinks} definitions={Object.keys(definitions)} />
        ) : (
          <EmptyState
            isHeading
            message="The archive has no links of this campaign."
            command="karat verify report CAMPAIGN.sqlite --archive FOLDER"
          />
        );
      }}
    </Loader>
  );
}

/** Names and texts come from the dataset, if the archive has it with cases. */
function LinkList(props: { campaign: VerificationFile; campaignLinks: CampaignLinks; definitions: string[] }) {
  const key = props.campaignLinks.dataset;
  const dataset = leaderboardState.value!.datasets.find((item) => item.key === key && item.cases);
  return dataset ? <NamedLinks {...props} dataset={dataset.key} /> : <LinkTable {...props} />;
}

function NamedLinks(props: Parameters<typeof LinkList>[0] & { dataset: string }) {
  return <Loader state={useData(props.dataset)}>{(data) => <LinkTable {...props} data={data} />}</Loader>;
}

function LinkTable({
  campaign,
  campaignLinks: { links },
  definitions,
  dataset = "",
  data,
}: Parameters<typeof LinkList>[0] & { dataset?: string; data?: Data }) {
  const { query } = route.value;
  const selection = {
    campaign: 0,
    show: query.show,
    source: Number(query.source ?? 0),
    pair: Number(query.pair ?? 0),
    reading: definitions.includes(query.reading) ? query.reading : definitions[0],
  };
  const isKnown = Object.hasOwn(FILTERS, query.show ?? "");
  const [title, find] = FILTERS[isKnown ? query.show : "shown"];
  const allIndices = find(links, campaign, selection);
  const outcome = OUTCOME_NAMES.indexOf(query.outcome ?? "");
  const indices = allIndices.filter(hasOutcome(links, outcome));
  const counts = countOutcomes(links, allIndices);
  const visible = indices.slice(0, getRowLimit());
  const docs = new Map(links.documents.map((id, index) => [index, data?.findDocument(id) ?? -1]));
  const texts = useTexts(
    dataset,
    data,
    visible.map((index) => docs.get(links.document[index])!).filter((doc) => doc >= 0),
  );
  const entityName = (entity: number) =>
    entity < 0 ? "–" : (data?.findName(links.entities[entity]) ?? links.entities[entity]);
  const entityCell = (entity: number): Cell => ({
    text: entity < 0 ? "" : links.entities[entity],
    content:
      entity < 0 ? (
        ""
      ) : (
        <>
          <span dir="auto">{entityName(entity)}</span>
          {entityName(entity) !== links.entities[entity] && <span class="quiet id"> {links.entities[entity]}</span>}
        </>
      ),
  });
  const pair = query.pair === undefined ? null : campaign.pairs[selection.pair];
  const sourceName = query.source === undefined ? null : campaign.sources[selection.source]?.source;
  const columns: Column[] = [
    { title: "mention" },
    { title: "entity" },
    { title: "outcome" },
    { title: "modified to" },
    { title: "source" },
    { title: "document", isMinor: true },
  ];
  const rows = visible.map((index): Cell[] => {
    const doc = docs.get(links.document[index])!;
    const [start, end] = [links.start[index], links.end[index]];
    const mention = (
      <MentionContext stretches={texts.value?.get(doc)} start={start} end={end} surface={links.surface[index]} />
    );
    return [
      {
        text: links.surface[index],
        content:
          doc >= 0 ? (
            <a
              class="plain"
              href={pageUrl("text", { dataset, doc: links.documents[links.document[index]], at: `${start}-${end}` })}
            >
              {mention}
            </a>
          ) : (
            mention
          ),
      },
      entityCell(links.entity[index]),
      { text: OUTCOME_NAMES[links.outcome[index]] },
      entityCell(links.becomes[index]),
      { text: campaign.sources[links.source[index]].source },
      { text: links.documents[links.document[index]] },
    ];
  });
  return (
    <>
      <h1 class="summary">
        {title}
        {sourceName && (
          <>
            {" "}
            of <b>{sourceName}</b>
          </>
        )}
        {pair && ` of ${pair.source_a} and ${pair.source_b}`} in {campaign.dataset}:{" "}
        <b>{formatNumber(allIndices.length)}</b>
        {counts.map((count, code) =>
          count && count < allIndices.length ? (
            <>
              {", "}
              <a key={code} href={currentUrl({ outcome: OUTCOME_NAMES[code], more: "" })}>
                {formatNumber(count)} {OUTCOME_NAMES[code]}
              </a>
            </>
          ) : null,
        )}
        .
      </h1>
      <Toolbar>
        <Select
          label="outcome"
          name="outcome"
          value={outcome < 0 ? "" : OUTCOME_NAMES[outcome]}
          options={[["", "any outcome"], ...OUTCOME_NAMES.map((name) => [name, name] as const)]}
          reset={{ more: "" }}
        />
        <a href={pageUrl("verification", { reading: query.reading })}>all results of verification</a>
      </Toolbar>
      {indices.length ? <Sheet name="Links" columns={columns} rows={rows} /> : <p>No matching links.</p>}
      <MoreLink count={visible.length} total={indices.length} unit="links" />
      {!data && <p class="quiet">The archive does not have this dataset, so texts and names are missing.</p>}
    </>
  );
}

export const PAGE: Page = {
  title: "Judged links",
  group: "Method",
  position: 0,
  Content: JudgedLinks,
  isListed: () => false,
  parent: "verification",
};
