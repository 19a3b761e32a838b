import type { Totals } from '@delta/journal/runs'
import type { WrittenLimits, WrittenScorer } from './schema.js'

/** What a cell may spend: `wall_time` as `90s`, `30m` or `4h`, tokens, and US dollars. */
export type CellLimits = WrittenLimits

/** A command, or a comparison, that says how good the work of a cell is. */
export interface Scorer extends WrittenScorer {
  name: string
}

/** `plan.json`: eval.yaml resolved. Paths are relative to the directory of the evaluation. */
export interface Plan {
  version: 1
  name: string
  engine: string
  /** Path of the eval.yaml. */
  source: string
  /** SHA-256 of its text. */
  source_hash?: string | undefined
  /** SHA-256 of `manifest.jsonl`: a kill between the two leaves them of two plannings. */
  manifest?: string | undefined
  baseline: string
  concurrency: number
  repeats: number
  seed: number
  sandbox: 'none'
  keep: 'always' | 'failed' | 'never'
  setup?: string | undefined
  provider_wait?: string | undefined
  snapshots?: unknown
  scorers: readonly Scorer[]
  /** The files of all scorers, in `inputs/`. */
  scorer_files: string | null
  variants: readonly PlannedVariant[]
  tasks: readonly PlannedTask[]
}

/** What solves the tasks of a plan. */
export interface PlannedVariant {
  name: string
  hash: string
  /** In `inputs/`. Null: that of the run that a task forks. */
  agent: string | null
  kind: 'agent' | 'oracle' | 'nop'
  /** Where the agent came from: keys are looked for there. Null for `oracle` and `nop`. */
  original: string | null
  /** What is set in it, as `path=value`; `${seed}` stands for the cell's. */
  set: readonly string[]
  /** Those of the agent itself. */
  limits: CellLimits
}

/** A task of a plan. */
export interface PlannedTask {
  id: string
  hash: string
  /** In `inputs/`. */
  input: string
  limits: CellLimits
  fork?:
    | {
        at: number
        message?: string | undefined
        /** The agent of the run, as of a variant; absent for a run that is not yours. */
        agent?: string | undefined
        original?: string | undefined
        set?: readonly string[] | undefined
      }
    | undefined
}

/** A line of `manifest.jsonl`, and `cell.json`. */
export interface Cell {
  cell: string
  variant: string
  task: string
  repeat: number
  seed: number
  task_hash: string
  variant_hash: string
  score_hash: string
}

/** How a cell with a result counts: only the first two do, the second as 0. */
export type CellState = 'scored' | 'unscored-agent' | 'unscored-infra' | 'invalid'

/** How a cell counts, and why. */
export interface Verdict {
  state: CellState
  /** Null unless `scored`. */
  score: number | null
  /** The `reason_code` of the run, or a word for what else decided. */
  reason: string
  /** For people; empty where the reason says all. */
  detail: string
}

/** `result.json`: what counts of a cell. */
export interface CellResult extends Verdict, Omit<Cell, 'task_hash' | 'variant_hash'> {
  version: 1
  attempt: number
  /** Number of the lease under which it was written. */
  epoch: number
  scores: Record<string, { score: number | null; metrics: Record<string, number> }>
  run: { id: string; status: string; reason_code: string | null; iterations: number } | null
  totals: Totals | null
  models: readonly string[]
  warnings: readonly string[]
  limits: CellLimits
  sandbox: 'none'
  engine: string
  ms: { setup: number; agent: number; waited: number; score: number }
  at: string
  by: { host: string; pid: number }
}
