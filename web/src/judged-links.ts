// The links behind the numbers of the verification page.
import { pageUrl, type QueryChanges } from "./route";
import type { JudgedLinksFile, VerificationFile } from "./shape";

export const OUTCOME_NAMES = ["verified", "modified", "removed", "tied", "open"];
const LAST_OUTCOME = 2; // later ones are tied and open links

/** The selection of links in the query of the URL. */
export interface LinkQuery {
  /** Index of the campaign. */
  campaign: number;
  /** Name of a filter. */
  show: string;
  /** Index of the source, if the filter is about one. */
  source?: number;
  /** Index of the pair of sources, if the filter is about one. */
  pair?: number;
  /** Name of the definition of scores after verification. */
  reading?: string;
}

export const linksUrl = (query: LinkQuery): string => pageUrl("judged-links", { ...query } as QueryChanges);

type Filter = (links: JudgedLinksFile, campaign: VerificationFile, query: Required<LinkQuery>) => number[];

/** Titles and functions of the filters. A filter of one source has its name in the title. */
export const FILTERS: Record<string, [title: string, find: Filter]> = {
  shown: ["Links shown to judges", (links, _, { source }) => ofSource(links, source)],
  ...Object.fromEntries(
    OUTCOME_NAMES.map((name, code): [string, [string, Filter]] => [
      name,
      [
        `${name[0].toUpperCase()}${name.slice(1)} links`,
        (links, _, { source }) => ofSource(links, source).filter(hasOutcome(links, code)),
      ],
    ]),
  ),
  judged: ["Links with an outcome", (links, _, { source }) => ofSource(links, source).filter(isJudged(links))],
  before: [
    "Links that match the original gold standard",
    (links, _, { source }) => links.correct_before.filter((index) => links.source[index] === source),
  ],
  counted: [
    "Links that count after verification",
    (links, _, { source, reading }) => links.roles[reading].counted.filter((index) => links.source[index] === source),
  ],
  after: [
    "Correct links after verification",
    (links, _, { source, reading }) => links.roles[reading].correct.filter((index) => links.source[index] === source),
  ],
  missing: ["Accepted links that the gold standard lacks", (links, _, { reading }) => links.roles[reading].missing],
  union: ["Accepted links of all sources", (links, _, { reading }) => links.roles[reading].union],
  several: ["Links that several people judged", (links) => links.shared],
  agreed: ["Links on which all judges agree", (links) => links.agreed],
  "pair-union": ["Accepted links", (links, _, { pair, reading }) => links.pair_unions[pair][reading]],
  "pair-judged": [
    "Links with an outcome",
    (links, campaign, { pair }) => ofPair(links, campaign, pair).flat().filter(isJudged(links)),
  ],
  shared: ["Shared links", (links, campaign, { pair }) => findShared(links, campaign, pair).map(([first]) => first)],
  "shared-judged": [
    "Shared links with an outcome",
    (links, campaign, { pair }) => findShared(links, campaign, pair).flat().filter(isJudged(links)),
  ],
  "shared-same": [
    "Shared links with the same outcome for both sources",
    (links, campaign, { pair }) =>
      findShared(links, campaign, pair)
        .filter(
          ([first, second]) =>
            isJudged(links)(first) &&
            links.outcome[first] === links.outcome[second] &&
            links.becomes[first] === links.becomes[second],
        )
        .map(([first]) => first),
  ],
  only: [
    "Links with an outcome that only this source of the pair has",
    (links, campaign, { pair, source }) => {
      const shared = new Set(findShared(links, campaign, pair).flat());
      return ofSource(links, source).filter((index) => !shared.has(index) && isJudged(links)(index));
    },
  ],
};

const isJudged = (links: JudgedLinksFile) => (index: number) => links.outcome[index] <= LAST_OUTCOME;

const ofSource = (links: JudgedLinksFile, source: number): number[] =>
  links.source.flatMap((value, index) => (value === source ? [index] : []));

/** The links of each source of a pair. */
function ofPair(links: JudgedLinksFile, campaign: VerificationFile, pair: number): [number[], number[]] {
  const findSource = (name: string) => campaign.sources.findIndex((source) => source.source === name);
  const { source_a, source_b } = campaign.pairs[pair];
  return [ofSource(links, findSource(source_a)), ofSource(links, findSource(source_b))];
}

/** The links that both sources of a pair have: same span and entity. */
function findShared(links: JudgedLinksFile, campaign: VerificationFile, pair: number): [number, number][] {
  const [first, second] = ofPair(links, campaign, pair);
  const key = (index: number) =>
    `${links.document[index]} ${links.start[index]} ${links.end[index]} ${links.entity[index]}`;
  const byKey = new Map(second.map((index) => [key(index), index]));
  return first.flatMap((index) => (byKey.has(key(index)) ? [[index, byKey.get(key(index))!] as [number, number]] : []));
}

/** Count the outcomes of links. */
export function countOutcomes(links: JudgedLinksFile, indices: readonly number[]): number[] {
  const counts = OUTCOME_NAMES.map(() => 0);
  for (const index of indices) counts[links.outcome[index]]++;
  return counts;
}

/** Whether a link of the campaign has this outcome; -1 for any outcome. */
export const hasOutcome = (links: JudgedLinksFile, outcome: number) => (index: number) =>
  outcome < 0 || links.outcome[index] === outcome;
