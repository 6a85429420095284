// Generated from src/karat/archive/shape.py by tools/generate.py.

/** How far judges agree on links that two or more judged; `machine` names the one that is beside people.
 * 
 * `pairs` are any two who judged the same link. */
export interface AgreementOfJudges {
  items: number;
  same: number | null;
  kappa: number | null;
  alpha: number | null;
  machine: string | null;
  pairs: AgreementOfTwo[];
}

/** How far two judges agree on links that both judged: the share of the same outcome, and Cohen's kappa. */
export interface AgreementOfTwo {
  one: string;
  two: string;
  items: number;
  same: number;
  kappa: number | null;
}

/** Accepted links that the gold standard has nothing for, out of all accepted ones. */
export interface MissingLinks {
  missing: number;
  union: number;
  share: number | null;
}

/** Right, given and expected links, with precision and recall; None where nothing can be divided. */
export interface PosthocScore {
  right: number;
  given: number;
  expected: number;
  precision: number | null;
  recall: number | null;
  f1: number | null;
  precision_interval: [number, number] | null;
  recall_interval: [number, number] | null;
}

/** How one judge did. */
export interface QualityOfJudge {
  judge: string;
  machine: string | null;
  judgements: number;
  controls: number;
  controls_right: number;
  passing: string;
  median_seconds: number | null;
}

/** One source: its links, tasks, those shown, what became of them, and its scores before and after.
 * 
 * `overlaps` says how its links stand to those of each other source. */
export interface SourceOutcomes {
  source: string;
  links: number;
  tasks: number;
  shown: number;
  verified: number;
  modified: number;
  removed: number;
  open: number;
  verification_rate: number | null;
  before: Record<string, PosthocScore>;
  posthoc: Record<string, PosthocScore>;
  overlaps: Record<string, Record<string, number>>;
  not_shown: Record<string, number>;
}

/** What `karat verify report --json` writes, one object for each campaign. */
export interface VerificationFile {
  layout: "karat-verification/1";
  campaign: string;
  dataset: string;
  documents: number;
  judged_by: string;
  interval_unit: string;
  interval_level: number;
  resamples: number;
  sources: SourceOutcomes[];
  missing_from_gold: Record<string, MissingLinks>;
  agreement: AgreementOfJudges;
  machines: AgreementOfJudges[];
  judges: QualityOfJudge[];
  seconds: [number | null, number | null, number | null];
  left_out: Record<string, number>;
  added: number;
}

/** A system: its name, and what it calls itself. */
export interface SystemInfo {
  name: string;
  title: string;
}

/** A dataset: what it is called in addresses and by people, and what there is to see of it. */
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

/** A profile, its measure that is shown first, and all that it shows. */
export interface ProfileInfo {
  name: string;
  title: string;
  says: string;
  headline: string;
  measures: string[];
}

/** One measure under one profile: for each dataset a row with one number for each system; null where undefined.
 * 
 * `better` are the systems that are significantly better, null where that was not tested; `mean` is over the datasets
 * that all systems answered. */
export interface MeasureTable {
  profile: string;
  measure: string;
  value: (number | null)[][];
  low: (number | null)[][];
  high: (number | null)[][];
  better: (number[] | null)[][];
  mean: (number | null)[];
}

/** What is to be said of a system on a dataset: what was left out, hints, why a profile or a measure has no number.
 * 
 * `counts` are what was found, what was answered in vain and what was missed, of the measure that is shown first. */
export interface CellNote {
  dataset: number;
  system: number;
  skipped: Record<string, number>;
  notes: string[];
  refused: Record<string, string>;
  undefined: Record<string, string>;
  seconds: number | null;
  counts: number[];
  signature: string;
}

/** `board`: who is better, and is that sure? Systems are in the order of their means, the best first. */
export interface BoardPiece {
  layout: "karat-archive/1";
  version: string;
  title: string;
  profile: string;
  level: number;
  tests: string;
  texts: string;
  systems: SystemInfo[];
  datasets: DatasetInfo[];
  averaged: number[];
  profiles: ProfileInfo[];
  tables: MeasureTable[];
  notes: CellNote[];
  verified: boolean;
}

/** An error category: its group, of which the first category is the widest, and what it says. */
export interface CategoryInfo {
  name: string;
  title: string;
  says: string;
  among: string;
  group: string;
}

/** A system on a dataset: for each category errors, out of how many (null: nobody can say), and undecided. */
export interface ErrorCounts {
  dataset: number;
  system: number;
  errors: (number | null)[];
  total: (number | null)[];
  undecided: number[];
}

/** `errors`: what does it get wrong? */
export interface ErrorsPiece {
  categories: CategoryInfo[];
  counts: ErrorCounts[];
}

/** A document: its id, its title if it has one, its length in code points and the part that is scored. */
export interface DocumentInfo {
  id: string;
  title: string | null;
  length: number;
  span: [number, number] | null;
  block: number;
}

/** The gold mentions, one entry each. `types` are places in lists of types; `others` are further right entities. */
export interface GoldColumns {
  document: number[];
  start: number[];
  end: number[];
  entity: number[];
  surface: number[];
  types: number[];
  optional: number[];
  others: Record<string, number[]>;
}

/** The cases of one system. `gold` is the mention, `start` is -1 where nothing was answered.
 * 
 * `errors` is a place in `combinations`; `candidates` says how many there were, and `rank` where the gold entity
 * stands among them, from 1; 0 if it is not there. Both are empty where no answer has candidates, as `score` is. */
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

/** `cases/DATASET`: every case of every system. Entities are -1 for NIL and -2 for no link. */
export interface CasesPiece {
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
  says: string[];
  combinations: number[][];
  gold: GoldColumns;
  tracks: Track[];
}

/** What is shown of a document: stretches of its text, each with the offset at which it begins. */
export interface DocumentText {
  document: number;
  stretches: [number, string][];
}

/** `texts/DATASET/BLOCK`: the texts of some documents. */
export interface TextsPiece {
  documents: DocumentText[];
}

/** What a rule says about a place of the gold standard. */
export interface LintFinding {
  rule: string;
  severity: string;
  document: number;
  start: number;
  end: number;
  surface: string;
  says: string;
  proposal: string;
}

/** `dataset/DATASET`: a gold standard in numbers, and what the linter says of it. */
export interface DatasetPiece {
  dataset: string;
  about: Record<string, string>;
  numbers: [string, number | string | null][];
  types: [string, number][];
  mention_types: [string, number][];
  skipped: Record<string, number>;
  rules: [string, string, string, number][];
  findings: LintFinding[];
}

/** A case that a choice changes: where, what stands there, and how gold and answer counted before and after. */
export interface FlippedPlace {
  document: number;
  start: number;
  end: number;
  surface: string;
  gold: string | null;
  answer: string | null;
  gold_turn: [string, string];
  answer_turn: [string, string];
}

/** A choice with what it is there and here, its share of the gap, and what it flips. */
export interface ReasonStep {
  choices: [string, string, string][];
  share: number;
  flips: FlippedPlace[];
  flipped: number;
}

/** Why the number of a system is another under a profile. */
export interface Reasons {
  system: number;
  profile: string;
  their_measure: string;
  our_measure: string;
  theirs: number;
  ours: number;
  steps: ReasonStep[];
  idle: string[];
}

/** `reasons/DATASET`: why is this number not theirs? */
export interface ReasonsPiece {
  dataset: string;
  reasons: Reasons[];
}

/** A line of a chart: what it is of, and its points; of bars, one for each of the ticks. */
export interface CurveLine {
  system: number;
  x: number[];
  y: number[];
}

/** A chart: its lines, and in `marked` a point on each of some of them.
 * 
 * `name` is for addresses. Values of y are from 0 to 1. Where `ticks` has words, x are places among them; `log` asks
 * for a logarithmic x; `diagonal` for a line from (0, 0) to (1, 1), on which everything would be as it should. */
export interface DrawnChart {
  name: string;
  title: string;
  says: string;
  x: string;
  y: string;
  form: "line" | "step" | "points" | "bars";
  log: boolean;
  diagonal: boolean;
  ticks: string[];
  lines: CurveLine[];
  marked: CurveLine[];
}

/** `curves/DATASET`: scores over thresholds, coverage, alpha, categories, difficulty and time; calibration. */
export interface CurvesPiece {
  dataset: string;
  charts: DrawnChart[];
  missing: [string, string][];
}

/** An entity on a dataset: mentions that count, and for each system how many it gets and how often it answers it.
 * 
 * Both are null where the system has no cases on the dataset. */
export interface EntityRow {
  entity: number;
  dataset: number;
  mentions: number;
  found: (number | null)[];
  answered: (number | null)[];
}

/** A surface on a dataset: mentions that count, of how many entities, and for each system how many it gets. */
export interface SurfaceRow {
  surface: string;
  dataset: number;
  mentions: number;
  entities: number;
  found: (number | null)[];
}

/** A gold entity that a system took for another one, and how often on a dataset. -1 is NIL, -2 no link. */
export interface ConfusionRow {
  gold: number;
  answered: number;
  dataset: number;
  system: number;
  times: number;
}

/** `entities`: all datasets together, the most frequent first; `more` says how many rows of each are not listed. */
export interface EntitiesPiece {
  entities: string[];
  names: (string | null)[];
  rows: EntityRow[];
  surfaces: SurfaceRow[];
  confusions: ConfusionRow[];
  more: [number, number, number];
}

/** A way to judge an answer: under which profile and in which view; `refused` says why nobody can judge so here. */
export interface CreditWay {
  name: string;
  title: string;
  says: string;
  profile: string;
  view: string;
  refused: string | null;
}

/** What every case of a system earns, in each way: 1 is right, 0 is wrong, null is not counted.
 * 
 * Cases are in the order of the track of the same system in `cases/DATASET`; those without an answer are null. */
export interface CreditTrack {
  system: number;
  credits: (number | null)[][];
}

/** `credits/DATASET`: one answer, several verdicts. */
export interface CreditsPiece {
  dataset: string;
  ways: CreditWay[];
  tracks: CreditTrack[];
}

/** A value of a label: what it is called in addresses and by people, and how many mentions that count have it.
 * 
 * Of alternatives the one that a system's answer is nearest to counts: here they are as many as for any system. */
export interface LabelValue {
  name: string;
  title: string;
  gold: number;
}

/** One measure: for each value of a label a row with one number for each system; null where undefined. */
export interface SplitTable {
  measure: string;
  value: (number | null)[][];
}

/** The values that every case of a system has, as places in `combinations`.
 * 
 * Cases are in the order of the track of the same system in `cases/DATASET`. */
export interface LabelTrack {
  system: number;
  cases: number[];
}

/** Scores by a label, the most frequent value first. Without cases there are no tracks.
 * 
 * `doubts` are what speaks against the precision of a system by this label. */
export interface SplitLabel {
  name: string;
  title: string;
  says: string;
  values: LabelValue[];
  tables: SplitTable[];
  combinations: number[][];
  tracks: LabelTrack[];
  doubts: [number, string][];
}

/** `groups/DATASET`: how good is it on what? Scores by types, fine-grained categories, mention types. */
export interface GroupsPiece {
  dataset: string;
  view: string;
  labels: SplitLabel[];
}

/** A problem, the systems that solve it as their answers show, and the datasets that are gold standards for it. */
export interface ProblemNode {
  name: string;
  title: string;
  says: string;
  systems: number[];
  datasets: number[];
}

/** `problems`: what reduces to what, from the harder to the easier problem, as places in `problems`. */
export interface ProblemsPiece {
  problems: ProblemNode[];
  reductions: [number, number][];
}

/** A case that was looked for in all results. */
export interface FoundCase {
  dataset: number;
  system: number;
  document: string;
  start: number;
  end: number;
  surface: string;
  gold: string | null;
  gold_name: string | null;
  answer: string | null;
  answer_name: string | null;
  kind: string;
  score: number | null;
}

/** What a search in all results finds: how many, and some of them. */
export interface FoundPiece {
  total: number;
  cases: FoundCase[];
}

/** `verification`: what judges found, in each campaign that was put into the archive. */
export interface VerificationPiece {
  campaigns: VerificationFile[];
  readings: Record<string, string>;
}
