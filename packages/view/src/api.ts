import type { CacheBreak, CacheMiss, CellOfRun, CostKey, CostRows, RunDiff, TracedRun } from '@delta/trace'

// What the server answers and the page reads. The address that is printed ends with `#t=TOKEN`, or if one run was named with
// `#t=TOKEN/run/KEY`. Times are milliseconds since 1970, durations milliseconds, costs US dollars.

/** `/api/cost` and `/api/diff` answer what these packages' functions return. */
export type { CacheBreak, CacheMiss, CostRows, RunDiff }

/** What a run and its sub-agents cost. */
export type Totals = TracedRun['totals']
/** Tokens in disjoint buckets, which add up to what is billed. */
export type Tokens = Totals['own']['tokens']

/** The answer with any status from 400 on. */
export interface Failure {
  error: string
}

/** A text of the run. */
export interface Text {
  /** Its beginning, at most 4 KiB of UTF-8 in a card, and all of it in a whole step. */
  text: string
  /** The size of all of it, in bytes of UTF-8. More than `text` has: it was cut. */
  bytes: number
}

/** `/api/runs?since=N`. */
export interface RunList {
  /** All runs, newest first; with `since`, those that changed after it. */
  runs: RunRow[]
  /** For the next request. */
  since: number
}

/** `DAMAGED`: its journal cannot be read to its end. `GONE`: its directory was deleted while the server ran. */
export type Status =
  | 'RUNNING'
  | 'WAITING_FOR_INPUT'
  | 'COMPLETED'
  | 'FAILED'
  | 'INTERRUPTED'
  | 'EMPTY'
  | 'DAMAGED'
  | 'GONE'

/** A run in the list, and the title of its page. */
export interface RunRow {
  /** Opaque, made by the server; the `:id` of all routes. It stays the same while the server runs. */
  key: string
  /** The run's id, as `delta` commands print it. */
  id: string
  agent: string | null
  /** The first 500 characters of the task. */
  task: string | null
  /** The run's own model first, then others that answered. */
  models: string[]
  status: Status
  /** How it ended, for programs: `limit_cost`, `answered`, `killed` …; null while it goes on. */
  reasonCode: string | null
  /** Why it failed, in words. */
  reason: string | null
  startedAt: number | null
  /** When its last event was journaled. */
  updatedAt: number | null
  /** When it ended; null while it goes on or waits. */
  endedAt: number | null
  /** The highest iteration. */
  steps: number
  /** Of it and its sub-agents: all buckets, and the estimate of what was not counted. */
  tokens: number
  /** True: some of `tokens` are estimated; the page writes `~`. */
  isEstimated: boolean
  /** Of it and its sub-agents; null if nothing has a price. */
  cost: number | null
  /** The share of tokens that has a price: 0 to 1. */
  priced: number
  /** How long an engine ran, without waiting for people. */
  wallMs: number
  /** Tools that the agent has. */
  tools: string[]
  /** The workspace, as a path; null if the journal does not say. */
  workspace: string | null
  /** The run whose call started this one; `key` if it is in the list. */
  caller?: { id: string; key?: string }
  /** The run of which this one is a fork, and the last step that both have. */
  forkOf?: { id: string; step: number; key?: string }
  /** The run stands for a repetition in an evaluation. */
  cell?: Cell
  /** Why it cannot be read to its end, such as `damaged: line 812 …`, or `gone`. */
  problem?: string
}

/** Where a run stands in an evaluation. */
export interface Cell
  extends Pick<CellOfRun, 'variant' | 'task' | 'repeat' | 'attempt' | 'counts' | 'state' | 'score'> {
  /** The name of its directory, without `.eval`. */
  evaluation: string
  /** Tells evaluations of one name apart; not a path. */
  evaluationKey: string
}

/** `/api/runs/:id`. It answers when the whole journal has been read; the steps come without waiting for it. */
export interface RunPage {
  run: RunRow
  totals: Totals
  /** At most 1,000, in order, each of one or more whole steps. */
  columns: Column[]
  /** What the agent is limited to; absent where it has no limit. */
  limits: { cost?: number; tokens?: number; wallMs?: number }
  /** A question that waits for a person. */
  question?: Question
  /** Sub-agents, in the order of their calls. */
  children: ChildCard[]
  commands: Commands
}

/** What to type for what the page shows. Words are quoted for a shell. */
export interface Commands {
  /** The run as the argument of a command: `delta show ARGUMENT --step 14`, `delta cost ARGUMENT`, `delta diff ARGUMENT OTHER`. */
  argument: string
  /** `delta continue …`, of a run that can go on. */
  continue?: string
}

/** One or more whole steps, for charts. The four durations add up to the time from the end of the column before to `endAt`. */
export interface Column {
  /** The first iteration. */
  from: number
  /** The last one; the same as `from` if the run has at most 1,000 steps. */
  to: number
  endAt: number
  modelMs: number
  toolMs: number
  /** Waiting for a person. */
  waitingMs: number
  /** No engine ran. */
  pauseMs: number
  /** A call or a request of it did not succeed. */
  isFailed: boolean
  /** What it cost itself, without sub-agents; null if nothing has a price. 0 if it is inherited or replayed. */
  cost: number | null
  tokens: Tokens
}

/** `/api/runs/:id/steps?before=N | ?after=N [&failed=1]`: 48 steps; without a bound the newest. */
export interface StepList {
  run: RunRow
  /** In ascending order, also where they were asked for with `before`. With `failed`, those that have a failure. */
  steps: StepCard[]
  /** There are more (with `failed`: more that have a failure) before the first, and after the last. */
  hasBefore: boolean
  hasAfter: boolean
  /** The last event that is in these cards: `after` of `/api/live`. */
  seq: number
}

/** One iteration of a run, as it stands in the list; in a whole step (`WholeStep`) its texts are not cut. */
export interface StepCard {
  n: number
  at: number
  /** It was copied from the run of which this one is a fork. Its cost is shown as `-`. */
  inherited: boolean
  /** Its answer was taken from a record. Its cost is shown as `-`. */
  replayed: boolean
  /** Engines that took the run before it, or within it: the first start, and each resume. */
  starts: StartCard[]
  /** What the user or the engine said before its request. */
  said: SaidCard[]
  /** Absent without a request. */
  request?: RequestCard
  /** The model's own thinking; folded, dim, in italics. */
  reasoning?: Text
  /** What it said. Without calls it is the answer. Absent while the model has not answered. */
  thought?: Text
  /** When it said so: what started later did so while its calls ran. Null while it has not answered. */
  thoughtAt: number | null
  /** True for a thought that ends the run: it has no calls. */
  isAnswer: boolean
  calls: CallCard[]
  /** Failed attempts and what was done about them, in order. */
  errors: ErrorCard[]
  hooks: HookCard[]
  /** Absent without a snapshot. */
  snapshot?: SnapshotCard
  modelMs: number | null
  toolMs: number
  /** A call or a request of it did not succeed. */
  isFailed: boolean
}

/** An engine process took the run. */
export interface StartCard {
  at: number
  /** 1 for the first engine, 2 for the first resume …; null where the journal does not say. */
  engine: number | null
  isResumed: boolean
  /** `continue --retry`. */
  isRetry: boolean
  /** How long no engine ran before it; null for the first. */
  pauseMs: number | null
  /** How the engine before it ended: `after a kill`, `after SIGINT`, `after it had ended`; null for the first. */
  after: string | null
  /** `forked from 4be1c2 after step 7`, `a replay of 4be1c2: model recorded, tools live`; null for any other start. */
  origin: string | null
  /** What is different from the engine before, in words: `system_prompt.md changed`, `llm.model gpt-5.6-luna → claude-sonnet-5`. */
  changes: string[]
  /** Version of the engine. */
  version: string | null
  host: string | null
}

/** What the model was told beside results. */
export interface SaidCard {
  at: number
  role: 'user' | 'system'
  text: Text
  media: Media[]
  inherited: boolean
  seq: number
}

/** An image or a file that was part of a message or a result. */
export interface Media {
  type: 'image' | 'file'
  mediaType: string
  bytes: number
  name?: string
  width?: number
  height?: number
  /** Path of `GET`, of an image of at most 5 MB that may be shown: png, jpeg, webp or gif. */
  path?: string
}

/** A request in numbers. */
export interface RequestCard {
  at: number | null
  model: string
  provider: string | null
  /** `chat`, `responses`, `messages`; null where it is not recorded. */
  api: string | null
  /** Set where it differs from the step before. */
  changedFrom?: { model?: string; api?: string }
  /** Null: the provider did not count them; then `estimate` is shown with `~`. */
  tokens: Tokens | null
  estimate: number
  cost: number | null
  finishReason: string | null
  /** Of the body. */
  bytes: number
}

/** What a call became, in words: `failed` an exit code other than 0, `error` it could not be run, `refused` by rules before it started. */
export type CallStatus =
  | 'pending'
  | 'running'
  | 'success'
  | 'failed'
  | 'error'
  | 'timeout'
  | 'blocked'
  | 'interrupted'

/** A tool call. */
export interface CallCard {
  actionId: string
  tool: string
  /** The model's arguments; of a shell tool the command line alone. */
  arguments: Text
  /** What ran, as a person would type it; null: it was refused, or has not started. */
  command: Text | null
  status: CallStatus
  /** Of a call that did not simply succeed or fail: `blocked by a hook: …`, `timed out after 10 m`, `interrupted: the engine ended`. */
  statusWords: string | null
  exitCode: number | null
  startedAt: number | null
  endedAt: number | null
  durationMs: number | null
  /** The result as the model reads it, by lines: the first 6 and the last 4, each cut to 500 characters. */
  output: { first: string[]; last: string[]; omittedLines: number; bytes: number }
  /** A hook put another result in its place, which `output` shows. */
  isOverridden: boolean
  media: Media[]
  /** A person was asked. */
  asked?: Question
  /** Runs that it started. */
  children: ChildCard[]
}

/** A question to a person, with the answer if there is one. */
export interface Question {
  at: number
  kind: 'question' | 'approval'
  prompt: string
  /** The command that is to be approved. */
  argv?: string[]
  /** Why approval is needed. */
  reasons: string[]
  requestId: string | null
  answer?: { at: number; text: string }
}

/** A run that a call started. */
export interface ChildCard {
  actionId: string
  runId: string
  /** Absent if it lies outside the directories that are shown. */
  key?: string
  agent: string | null
  status: string | null
  reasonCode: string | null
  steps: number | null
  /** With its own sub-agents. */
  cost: number | null
  tokens: number | null
  wallMs: number | null
  isGone: boolean
  /** It went on after the call had ended. */
  wentOn: boolean
}

/** A request that failed, or the end of a run as failed. */
export interface ErrorCard {
  at: number
  message: string
  /** False: it ended the run. */
  isRecoverable: boolean
  /** `429, waited 2.0 s`: of an attempt that was followed by another. */
  retry?: { attempt: number; waitedMs: number | null; status: number | null }
  /** The answer was paid for, and not used. */
  cost: number | null
}

/** A hook ran. */
export interface HookCard {
  name: string
  status: string
  durationMs: number | null
  actionId: string | null
  message: string | null
}

/** What a snapshot after the step says of the workspace. */
export interface SnapshotCard {
  /** False: the workspace was not captured; `message` says why. */
  isTaken: boolean
  message: string | null
  /** Its calls changed files. How many is in `StepChanges`. */
  isChanged: boolean
  omitted: number
}

/** `/api/runs/:id/steps/:n`. */
export interface WholeStep {
  card: StepCard
  /** The request, block by block; absent without a record of it. */
  request?: RequestDetail
  /** The events of the step as the journal has them, each one line of JSON. Cut to 64 KiB each. */
  journal: { seq: number; type: string; line: Text }[]
}

/** What a request was made of. */
export interface RequestDetail {
  sha256: string
  bytes: number
  /** The hook that changed it after its blocks were measured. */
  rewrittenBy: string | null
  /** In the order of the request. */
  blocks: Block[]
  /** Sources of the request before that are not in this one. */
  removed: { source: string; tokens: number }[]
  /** Where a provider's cache ends because something changed since the request before. */
  cacheBreak?: CacheBreak
}

/** What one source of `context.yaml`, or the definitions of the tools, is of a request. Its text is at `…/steps/:n/blocks/:index`. */
export interface Block {
  index: number
  source: string
  type: 'file' | 'text' | 'computed_file' | 'skills' | 'journal' | 'tools'
  bytes: number
  /** As the context estimated it. */
  estimate: number
  /** What the provider counted, shared out: from the cache, written into it, neither. */
  read: number
  written: number
  new: number
  /** How many chat messages it is, or is part of. */
  messages: number
  /** Index of the first of them, and its bytes in that message's text: `[from, to)`. */
  message?: number
  from?: number
  to?: number
  headerBytes: number
  note: string | null
  /** Compared with the same source in the request before: `grown` ends with something new and is the same up to there. */
  change: 'first' | 'same' | 'grown' | 'changed'
  /** Of a conversation: its tokens by tool, then (null) what belongs to no call. */
  by: { tool: string | null; tokens: number }[]
  /** Of the block where the cached prefix breaks: the first byte of its text that differs. */
  breaksAt?: number
}

/** `/api/runs/:id/steps/:n/changes`: files between the snapshot before the step and the one after it. */
export interface StepChanges {
  /** Null: not known; `unknown` says why, and is null if the run takes no snapshots at all. */
  files: ChangedFile[] | null
  unknown: string | null
  /** The steps whose commands may have changed them: this one, and others with it where no snapshot lies between. */
  steps: number[]
  /** What the snapshot left out, and why: at most 100. */
  omitted: { path: string; reason: string }[]
  omittedCount: number
}

/** A file that differs. */
export interface ChangedFile {
  path: string
  /** Added, deleted, modified, type changed. */
  kind: 'A' | 'D' | 'M' | 'T'
  added: number | null
  removed: number | null
  /** A unified diff without the lines of file names, cut to 64 KiB; null for a binary file. */
  diff: Text | null
}

/** `/api/runs/:id/sources`: tokens by source. */
export interface SourceChart {
  /** Names, in the order of the requests. `answers` is last. */
  sources: { source: string; type: Block['type'] | 'answers' }[]
  /** 1: each request is there. k: every k-th, because there are more than 1,000. */
  every: number
  columns: SourceColumn[]
}

/** A request of the chart. */
export interface SourceColumn {
  n: number
  /** Parallel to `sources`: `[cached, not cached]` in tokens. */
  tokens: [cached: number, fresh: number][]
  /** The cached prefix ended at something that changed. */
  isBroken: boolean
  /** True: the provider did not count it. */
  isEstimated: boolean
}

/** A line of `/api/runs/:id/search?q=`: newline-delimited JSON, in order, as found; at most 1,000. */
export interface SearchMatch {
  n: number
  where: 'said' | 'thought' | 'reasoning' | 'call' | 'result' | 'error'
  /** Name of the tool of a call or result. */
  tool?: string
  actionId?: string
  /** At most 60 characters before and after the match. */
  before: string
  match: string
  after: string
}

/** `/api/cost?ids=KEY,KEY&by=BY`. */
export interface CostTable<By extends CostKey = CostKey> {
  by: By
  rows: CostRows[By]
  sum: CostRows['source'][number]
  /** The share of tokens that has a price. */
  priced: number
  /** Date of the newest table that gave a price. */
  prices: string | null
  /** The same as a command. */
  command: string
}

/** `/api/cost?ids=KEY&by=cache`: what kept the provider from using its cache. */
export interface CacheTable {
  by: 'cache'
  rows: CacheMiss[]
  command: string
}

/** `/api/diff?a=KEY&b=KEY`. */
export interface DiffAnswer {
  diff: RunDiff
  command: string
}

/**
 * A message of `/api/live?run=KEY&after=SEQ` (`text/event-stream`): `id:` is the number of the last event in it, `data:` is this as
 * one line of JSON. At most four a second; when nothing happens, a comment line every 15 s. It goes on after the run has ended, since
 * somebody may continue it.
 */
export interface LiveMessage {
  /** Steps that are new or have grown: each replaces the card of its number. At most 48; a gap before the first was missed. */
  steps: StepCard[]
  run: RunRow
  /** The question that waits for a person. */
  question: Question | null
  /** The columns that changed or are new: they replace those from the first of them on. */
  columns: Column[]
}

// An exported file holds what the routes answered when it was made, as islands of JSON: `data-delta` of one is `file`, `run KEY` or
// `steps KEY FROM`.

/** The island `file`. */
export interface FileHead {
  /** When it was made. */
  at: number
  /** The runs that were asked for, and their sub-agents. */
  runs: RunRow[]
  /** Keys of those that were asked for. */
  named: string[]
  /** True: no text is cut. */
  isWhole: boolean
}

/** The island `run KEY`. */
export interface FileRun {
  /** Answers of routes by path. */
  answers: Record<string, object>
  /** The number of the first step in each of its islands `steps KEY FROM`. */
  islands: number[]
  /** Numbers of all steps; of those that have a failure. */
  steps: number[]
  failed: number[]
}

/** The island `steps KEY FROM`: at most 200 steps. */
export interface FileSteps {
  steps: FileStep[]
  /** What the steps name by index: a text that several of them have is there once. */
  texts: FileText[]
  /** Images as `data:` URIs, by path. */
  images: Record<string, string>
}

/** A text, or what it has between the beginning and the end of another one: a request repeats the one before it. */
export interface FileText {
  text: string
  /** Of all of it, also of what the file does not hold. */
  bytes: number
  /** Index of the other one, and how many UTF-16 units of its beginning and of its end come before and after `text`. */
  like?: [index: number, start: number, end: number]
}

/** A step in an exported file. */
export interface FileStep {
  whole: WholeStep
  /** Absent where a run takes no snapshots. */
  changes?: StepChanges
  /** Index in `texts` by the path below the step: `request`, `blocks/0`, `calls/a1/stdout`. */
  texts: Record<string, number>
}
