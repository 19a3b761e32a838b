import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { CellOfRun, TracedRun } from '@delta/trace'
import type { EndedRun } from '@delta/trace/internal'
import type { Cell, RunRow, Status } from './api.js'

/** A run as far as the list shows it. */
export interface ListedRun
  extends Pick<
    TracedRun,
    'runId' | 'directory' | 'status' | 'metadata' | 'model' | 'lastIteration' | 'totals' | 'problem'
  > {
  /** Its first start that is not inherited. */
  start: EndedRun['start'] | undefined
}

/** The row of a run, before other rows are known. */
export function rowOf(run: ListedRun, key: string): RunRow {
  const { runId: id, metadata, totals, lastIteration: steps, start } = run
  const { tokens, estimated, cost, priced } = totals.all
  const { parent } = start ?? {}
  const problem = problemOf(run)
  return {
    key,
    id,
    agent: metadata.agent_name,
    task: metadata.initial_message?.slice(0, TASK_CHARACTERS) ?? null,
    models: modelsOf(run),
    status: statusOf(run),
    reasonCode: metadata.reason_code,
    reason: metadata.error,
    startedAt: timeOf(metadata.created_at),
    updatedAt: timeOf(metadata.updated_at),
    endedAt: timeOf(metadata.end_time),
    steps,
    tokens: Object.values(tokens).reduce((sum, count) => sum + count, estimated),
    isEstimated: estimated > 0,
    cost,
    priced,
    wallMs: totals.duration_ms,
    tools: toolsIn(start?.config),
    workspace: metadata.work_dir,
    ...(metadata.parent_run !== null && { caller: { id: metadata.parent_run } }),
    ...(parent && { forkOf: { id: parent.run_id, step: parent.iteration } }),
    ...(problem !== undefined && { problem }),
  }
}

/** As the list shows it. */
export function cellOf(cell: CellOfRun | undefined): Cell | undefined {
  if (cell === undefined) return undefined
  const { evaluation: directory, variant, task, repeat, attempt, counts, state, score } = cell
  const evaluationKey = createHash('sha256').update(directory).digest('hex').slice(0, 8)
  const evaluation = basename(directory).replace(/(.)\.eval$/, '$1')
  return { evaluation, evaluationKey, variant, task, repeat, attempt, counts, state, score }
}

/** What is left of a run whose directory was deleted. */
export function goneRow(row: RunRow): RunRow {
  return { ...row, status: 'GONE', problem: 'gone' }
}

const TASK_CHARACTERS = 500

function statusOf({ status, problem }: ListedRun): Status {
  return problem === undefined ? status : 'DAMAGED'
}

function problemOf({ problem }: ListedRun): string | undefined {
  if (problem === undefined) return undefined
  const { message, path, line, code } = problem
  const words = message.startsWith(path) ? message.slice(path.length).replace(/^[\d:]*:\s*/, '') : message
  if (code !== 'ERR_JOURNAL_CORRUPT') return words
  return `damaged: ${line === undefined ? '' : `line ${line}: `}${words}`
}

/** The run's own model first. An answer may name a version of it. */
function modelsOf({ model, totals }: ListedRun): string[] {
  const answered = Object.keys(totals.by_model)
  const others = answered.filter((name) => model === null || !name.startsWith(model))
  return others.length < answered.length && model !== null
    ? [model, ...others]
    : others.length > 0
      ? others
      : [model ?? []].flat()
}

/** Another program may have written the configuration. */
function toolsIn(config: unknown): string[] {
  const { tools } = Object(config) as { tools?: unknown }
  const names = (Array.isArray(tools) ? tools : []).map((tool) => Object(tool).name)
  return names.filter((name) => typeof name === 'string')
}

function timeOf(timestamp: string | null): number | null {
  const time = timestamp === null ? Number.NaN : Date.parse(timestamp)
  return Number.isNaN(time) ? null : time
}

/** The row of a run of which nothing was read, or may be. */
export function unreadRow(id: string, key: string, problem?: string): RunRow {
  return {
    key,
    id,
    agent: null,
    task: null,
    models: [],
    status: problem === undefined ? 'EMPTY' : 'DAMAGED',
    reasonCode: null,
    reason: null,
    startedAt: null,
    updatedAt: null,
    endedAt: null,
    steps: 0,
    tokens: 0,
    isEstimated: false,
    cost: null,
    priced: 0,
    wallMs: 0,
    tools: [],
    workspace: null,
    ...(problem !== undefined && { problem }),
  }
}
