import type { Verdict } from './types.js'

/** How the work on a cell ended, before anything was scored. */
export interface Ended {
  /** What must not have been touched, and was. */
  tampered?: Tampering | undefined
  /** Workers that died in the cell since its last result. */
  deadWorkers?: number | undefined
  /** Why the setup failed. */
  setup?: string | undefined
  /** Absent: it did not begin. */
  run?: { status: string; reasonCode: string | null; reason?: string | null | undefined } | undefined
}

/** What makes a cell invalid, in the order in which it is told. */
export type Tampering =
  | 'workspace' // its root was replaced
  | 'process' // one of the agent's survived KILL
  | 'result' // a result was there that the owner had not written
  | 'copy' // it is larger than the scorers' copy may be
  | 'inputs' // they are not what was planned
  | 'journal' // it fails the check of its hashes

/** What one scorer said. */
export type Scored =
  | { kind: 'score'; score: number; metrics: Record<string, number> }
  /** `null`: there is nothing to score. */
  | { kind: 'nothing'; metrics: Record<string, number> }
  /** The scorer's own fault. */
  | {
      kind: 'broken'
      reason: 'scorer_exit' | 'scorer_signal' | 'scorer_timeout' | 'scorer_result'
      detail: string
    }

/** Workers that may die in a cell before it counts as their killer. */
export const MOST_DEAD_WORKERS = 10

const TAMPERED: Readonly<Record<Tampering, string>> = {
  workspace: 'the root of the workspace was replaced',
  process: 'a process of the agent survived KILL',
  result: 'a result was there that no worker wrote',
  copy: 'the files to score exceed 2 GB; take: fewer',
  inputs: 'the files in inputs/ are not those that were planned',
  journal: 'the journal of the run was changed',
}

/** Ends of a run that say something about the agent; any other says something about what it depends on. */
const OF_AGENT = new Set([
  'answered',
  'empty_answer',
  'unparsed_tool_call',
  'missing_tool_call',
  'limit_iterations',
  'limit_tokens',
  'limit_cost',
  'limit_wall_time',
  'context_overflow',
  'content_filter',
  'cut_off',
  'model_refused',
  'hook_stopped',
  'critical_tool',
  'question', // nobody answers in an evaluation
  'approval',
])

/**
 * How a cell counts. The first row that matches decides: tampering, what the agent depends on, broken scorers, and then the first
 * scorer's word.
 *
 * @param scores - One for each scorer, in the order of eval.yaml; empty if they did not run.
 */
export function classify(ended: Ended, scores: readonly Scored[]): Verdict {
  return verdictWithoutScores(ended) ?? verdictOfScores(ended, scores)
}

/** The verdict on a cell that is not worth scoring; undefined for any other. */
export function verdictWithoutScores({ tampered, deadWorkers = 0, setup, run }: Ended): Verdict | undefined {
  if (tampered !== undefined)
    return { state: 'invalid', score: null, reason: tampered, detail: TAMPERED[tampered] }
  if (deadWorkers >= MOST_DEAD_WORKERS)
    return infra('workers_died', `${deadWorkers} workers died in this cell`)
  if (setup !== undefined) return infra('setup', setup)
  if (run === undefined) return infra('not_run', 'the run did not begin')
  const code = run.reasonCode ?? 'unknown'
  return OF_AGENT.has(code) ? undefined : infra(code, run.reason ?? '')
}

function verdictOfScores({ run }: Ended, scores: readonly Scored[]): Verdict {
  const broken = scores.find((each) => each.kind === 'broken')
  if (broken?.kind === 'broken') return infra(broken.reason, broken.detail)
  const [first] = scores
  const reason = run?.reasonCode ?? 'unknown'
  if (first === undefined) return infra('not_scored', 'no scorer ran')
  if (first.kind === 'score') return { state: 'scored', score: first.score, reason, detail: '' }
  return { state: 'unscored-agent', score: null, reason, detail: 'there is nothing to score' }
}

function infra(reason: string, detail: string): Verdict {
  return { state: 'unscored-infra', score: null, reason, detail }
}
