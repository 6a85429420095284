// Generated from src/karat/web/archive/shape.py by tools/generate.py.

/** Agreement of all judges on the same links, from any source, or of an automatic judge with people. */
export interface JudgeAgreement {
  items: number;
  observed: number | null;
  kappa: number | null;
  alpha: number | null;
  machine: string | null;
  pairs: PairAgreement[];
}

/** Performance of one judge. */
export interface JudgeQuality {
  judge: string;
  machine: string | null;
  judgements: number;
  controls: number;
  correct_controls: number;
  control_result: "passed" | "failed" | "partly failed" | "not tested";
  median_seconds: number | null;
  batches: number;
  failed_batches: number;
}

/** Agreement of two judges. */
export interface PairAgreement {
  judge_a: string;
  judge_b: string;
  items: number;
  observed: number;
  kappa: number | null;
}

/** Share of accepted links without any overlapping gold link. */
export interface MissingShare {
  missing: number;
  union: number;
  share: number | null;
}

/** Numbers of correct, predicted and expected links, with precision, recall and F1; null if undefined.
 * 
 * An interval is null if fewer than two documents count, or if all samples give the same value. */
export interface PosthocRecord {
  correct: number;
  predicted: number;
  expected: number;
  precision: number | null;
  recall: number | null;
  f1: number | null;
  precision_interval: [number, number] | null;
  recall_interval: [number, number] | null;
}

/** One source: its links and tasks, their outcomes, and its scores before and after verification.
 * 
 * `links_shown`: links shown to judges. `open`: links that still need judgements. `tied`: links that all required
 * judges have judged, without a majority. `original`: scores against the original gold. `posthoc`: scores after
 * verification. `overlaps`: kinds of overlap with the links of each other source. `excluded_links`: links not shown,
 * by reason. */
export interface SourceRecord {
  source: string;
  links: number;
  tasks: number;
  links_shown: number;
  verified: number;
  modified: number;
  removed: number;
  open: number;
  verification_rate: number | null;
  original: Record<string, PosthocRecord>;
  posthoc: Record<string, PosthocRecord>;
  overlaps: Record<string, Record<string, number>>;
  excluded_links: Record<string, number>;
  tied: number;
}

/** The output of `karat verify report --json`, one object per campaign.
 * 
 * `links_shown`: links of all sources. `open`: those of them that still need judgements. `recall_undefined`: why
 * posthoc recall is null for all sources; null if it is not. */
export interface VerificationFile {
  layout: "karat-verification/2";
  campaign: string;
  dataset: string;
  documents: number;
  judged_by: string;
  interval_unit: string;
  confidence: number;
  resamples: number;
  sources: SourceRecord[];
  missing_from_gold: Record<string, MissingShare>;
  agreement: JudgeAgreement;
  machines: JudgeAgreement[];
  judges: JudgeQuality[];
  seconds: [number | null, number | null, number | null];
  excluded: Record<string, number>;
  additions: number;
  links_shown: number;
  open: number;
  recall_undefined: string | null;
}

/** A system: its name and its title. */
export interface SystemInfo {
  name: string;
  title: string;
}

/** A dataset: its key in URLs, its name, and which pages exist for it. */
export interface DatasetInfo {
  key: string;
  name: string;
  data: string;
  documents: number;
  cases: boolean;
  texts: boolean;
  curves: boolean;
  credits: boolean;
  groups: boolean;
  reasons: string[];
}

/** A profile: its headline measure and all measures that it shows. */
export interface ProfileInfo {
  name: string;
  title: string;
  description: string;
  headline: string;
  measures: string[];
}

/** Systems on a dataset whose differences from some other system were not tested, with the reason. */
export interface UntestedSystems {
  dataset: number;
  systems: number[];
  reason: string;
}

/** One measure under one profile: a row per dataset, a number per system, null if undefined. */
export interface MeasureTable {
  profile: string;
  measure: string;
  value: (number | null)[][];
  low: (number | null)[][];
  high: (number | null)[][];
  better_systems: (number[] | null)[][];
  tested_systems: number[][][];
  untested: UntestedSystems[];
  untested_reason: string;
  direction: "high" | "low" | "none";
  mean: (number | null)[];
}

/** Notes on one system on one dataset. */
export interface CellNote {
  dataset: number;
  system: number;
  skipped: Record<string, number>;
  notes: string[];
  refusals: Record<string, string>;
  undefined: Record<string, string>;
  seconds: number | null;
  counts: number[];
  signature: string;
}

/** `leaderboard`: systems in descending order of their mean, with scores and significance. */
export interface LeaderboardResource {
  layout: "karat-archive/2";
  version: string;
  title: string;
  profile: string;
  alpha: number;
  tests: string;
  texts: string;
  systems: SystemInfo[];
  datasets: DatasetInfo[];
  averaged_datasets: number[];
  profiles: ProfileInfo[];
  tables: MeasureTable[];
  notes: CellNote[];
  has_verification: boolean;
}

/** An error category and its group; the first category of a group is the widest. */
export interface CategoryInfo {
  name: string;
  title: string;
  description: string;
  total_description: string;
  group: string;
}

/** Errors of one system on one dataset, one entry per category. */
export interface ErrorCounts {
  dataset: number;
  system: number;
  errors: (number | null)[];
  total: (number | null)[];
  undecided: number[];
  undefined: (string | null)[];
}

/** `errors`: error categories and counts of all systems. */
export interface ErrorsResource {
  categories: CategoryInfo[];
  counts: ErrorCounts[];
}

/** A document: id, title, length in code points and evaluation span. */
export interface DocumentInfo {
  id: string;
  title: string | null;
  length: number;
  span: [number, number] | null;
  block: number;
}

/** The gold mentions as columns, one entry per mention. */
export interface GoldColumns {
  document: number[];
  start: number[];
  end: number[];
  entity: number[];
  surface: number[];
  types: number[];
  optional: number[];
  alternatives: Record<string, number[]>;
}

/** The cases of one system as columns. */
export interface Track {
  system: number;
  gold: number[];
  document: number[];
  start: number[];
  end: number[];
  entity: number[];
  surface: number[];
  kind: number[];
  errors: number[];
  score: (number | null)[];
  candidates: number[];
  rank: number[];
}

/** `cases/DATASET`: every case of every system. Entity index -1 is NIL, -2 is unlinked. */
export interface CasesResource {
  dataset: string;
  view: string;
  kinds: string[];
  documents: DocumentInfo[];
  entities: string[];
  names: (string | null)[];
  descriptions: (string | null)[];
  surfaces: string[];
  types: string[][];
  categories: string[];
  titles: string[];
  description: string[];
  combinations: number[][];
  gold: GoldColumns;
  tracks: Track[];
}

/** The visible parts of a document's text, each with its start offset. */
export interface DocumentText {
  document: number;
  stretches: [number, string][];
}

/** `texts/DATASET/BLOCK`: the texts of one block of documents. */
export interface TextsResource {
  documents: DocumentText[];
}

/** A lint finding in the gold standard. */
export interface LintFinding {
  rule: string;
  severity: string;
  document: number;
  start: number;
  end: number;
  surface: string;
  description: string;
  proposal: string;
}

/** `dataset/DATASET`: statistics and lint findings of a gold standard. */
export interface DatasetResource {
  dataset: string;
  metadata: Record<string, string>;
  statistics: [string, number | string | null][];
  types: [string, number][];
  mention_types: [string, number][];
  skipped: Record<string, number>;
  rules: [string, string, string, number][];
  findings: LintFinding[];
}

/** A case that a setting changes: its span, gold and prediction, and both outcomes before and after. */
export interface FlippedCaseInfo {
  document: number;
  start: number;
  end: number;
  surface: string;
  gold: string | null;
  prediction: string | null;
  gold_outcomes: [string, string];
  prediction_outcomes: [string, string];
}

/** One setting with its value under both profiles, its share of the gap and the cases it flips. */
export interface ReasonStep {
  settings: [string, string, string][];
  share: number;
  flips: FlippedCaseInfo[];
  flip_count: number;
}

/** The explanation of the score gap of one system between the profile and a reference profile. */
export interface Reasons {
  system: number;
  profile: string;
  reference_measure: string;
  measure: string;
  reference_score: number;
  score: number;
  steps: ReasonStep[];
  unused_settings: string[];
}

/** `reasons/DATASET`: gap explanations of all systems. */
export interface ReasonsResource {
  dataset: string;
  reasons: Reasons[];
}

/** A line of a chart, or the bars of one system, one value per tick. */
export interface CurveLine {
  system: number;
  x: number[];
  y: number[];
}

/** A chart with its lines and markers. Values of y range from 0 to 1. */
export interface ChartData {
  name: string;
  title: string;
  description: string;
  x: string;
  y: string;
  form: "line" | "step" | "points" | "bars";
  log: boolean;
  diagonal: boolean;
  ticks: string[];
  lines: CurveLine[];
  markers: CurveLine[];
  undrawn: [number, string][];
}

/** `curves/DATASET`: scores over thresholds, coverage, alpha, categories, difficulty and time; calibration. */
export interface CurvesResource {
  dataset: string;
  charts: ChartData[];
  missing_charts: [string, string][];
}

/** An entity on a dataset, with counts per system; null if a system has no cases on the dataset. */
export interface EntityRow {
  entity: number;
  dataset: number;
  mentions: number;
  correct: (number | null)[];
  predicted: (number | null)[];
}

/** A surface form on a dataset: its mentions, number of entities and correct predictions per system. */
export interface SurfaceRow {
  surface: string;
  dataset: number;
  mentions: number;
  entities: number;
  correct: (number | null)[];
}

/** A gold entity that a system confused with another, and how often. -1 is NIL, -2 is unlinked. */
export interface ConfusionRow {
  gold: number;
  predicted: number;
  dataset: number;
  system: number;
  count: number;
}

/** `entities`: entities, surface forms and confusions over all datasets, most frequent first. */
export interface EntitiesResource {
  entities: string[];
  names: (string | null)[];
  rows: EntityRow[];
  surfaces: SurfaceRow[];
  confusions: ConfusionRow[];
  omitted: [number, number, number];
}

/** A rule that judges predictions: its profile and view. */
export interface CreditRuleInfo {
  name: string;
  title: string;
  description: string;
  profile: string;
  view: string;
  refusal: string | null;
}

/** The credit of every case of a system under each rule: 1 correct, 0 wrong, null not counted.
 * 
 * Cases are in the order of the same system's track in `cases/DATASET`; cases without a prediction are null. */
export interface CreditTrack {
  system: number;
  credits: (number | null)[][];
}

/** `credits/DATASET`: the credit of each prediction under several rules. */
export interface CreditsResource {
  dataset: string;
  rules: CreditRuleInfo[];
  tracks: CreditTrack[];
}

/** One value of a facet: its name in URLs, its title and the number of gold mentions that count.
 * 
 * Of alternatives the one nearest to a prediction counts, so the number is the maximum over systems. */
export interface FacetGroup {
  name: string;
  title: string;
  gold: number;
}

/** One measure: a row per group, a number per system, null if undefined. */
export interface GroupTable {
  measure: string;
  value: (number | null)[][];
}

/** The groups of every case of a system, as indices into `combinations`.
 * 
 * Cases are in the order of the same system's track in `cases/DATASET`. */
export interface FacetTrack {
  system: number;
  cases: number[];
}

/** Scores by one facet, most frequent group first; without cases there are no tracks. */
export interface FacetScores {
  name: string;
  title: string;
  description: string;
  values: FacetGroup[];
  tables: GroupTable[];
  combinations: number[][];
  tracks: FacetTrack[];
  caveats: [number, string][];
}

/** `groups/DATASET`: scores by types, fine-grained categories and mention types. */
export interface GroupsResource {
  dataset: string;
  view: string;
  facets: FacetScores[];
}

/** A problem, the systems that solve it and the datasets that have gold labels for it. */
export interface ProblemNode {
  name: string;
  title: string;
  description: string;
  systems: number[];
  datasets: number[];
}

/** `problems`: problems and their reductions, from the harder to the easier, as indices. */
export interface ProblemsResource {
  problems: ProblemNode[];
  reductions: [number, number][];
}

/** A case that matches a search over all results. */
export interface MatchingCase {
  dataset: number;
  system: number;
  document: string;
  start: number;
  end: number;
  surface: string;
  gold: string | null;
  gold_name: string | null;
  prediction: string | null;
  prediction_name: string | null;
  kind: string;
  score: number | null;
}

/** The result of a search over all cases: the total, and some of the cases. */
export interface SearchResource {
  total: number;
  cases: MatchingCase[];
}

/** `verification`: the results of each verification campaign in the archive. */
export interface VerificationResource {
  campaigns: VerificationFile[];
  definitions: Record<string, string>;
}
