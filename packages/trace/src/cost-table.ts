import { costOf } from '@delta/journal/internal'
import type { TokenSum } from '@delta/journal/runs'
import { cacheMisses } from './cache-misses.js'
import { type Piece, pieceReader } from './pieces.js'
import { recordedParts } from './recorded-parts.js'
import type { SentRequest } from './sent-request.js'
import { type Share, tokensIn } from './shares.js'
import type { Step } from './steps.js'
import type { Trace } from './trace.js'

/** What something cost. */
export interface Cost {
  /** What it is: a source, iteration, tool, call, model or run. */
  key: string
  tokens: TokenSum
  /** Tokens of requests that the provider did not count, estimated; in no bucket. */
  estimated: number
  /** US dollars, of the requests that have a price; null if none has one. */
  cost: number | null
}

/** What an iteration cost. */
export interface StepCost extends Cost {
  runId: string
  step: number
  /** The model that answered. */
  model: string
  /** True when the cached prefix ended at something that changed. */
  brokeCache: boolean
  /** How long the model took. Null: not recorded. */
  ms: number | null
}

/** What a tool cost: its definition, and its calls with their results. */
export interface ToolCost extends Cost {
  calls: number
  /** Tokens of its definition, in all requests. */
  definition: number
  /** Tokens of its calls and their results, in all requests that carried them. */
  results: number
}

/** What a call cost: its arguments and its result, in each request that carried them. */
export interface CallCost extends Cost {
  runId: string
  /** Null for the row `rest`, which holds what belongs to no call. */
  step: number | null
  tool: string
  /** Null: it has no result. */
  status: string | null
  exitCode: number | null
  ms: number | null
}

/** What the requests cost that a model answered. */
export interface ModelCost extends Cost {
  runs: number
  requests: number
}

/** What a run cost, with its sub-agents. */
export interface RunCost extends Cost {
  agent: string | null
  model: string | null
  status: string
  requests: number
  /** Runs below it, which are counted here. */
  subAgents: number
  /** Absolute, as the run recorded it. */
  workspace: string | null
  /** What it was first told. */
  task: string | null
}

/** The rows of each table. The rows of a run add up to what it cost itself; by model and run, also to what its sub-agents cost. */
export interface CostRows {
  source: Cost[]
  step: StepCost[]
  tool: ToolCost[]
  call: CallCost[]
  model: ModelCost[]
  run: RunCost[]
}

/** The tables into which costs are broken down. */
export type CostKey = keyof CostRows

/**
 * What runs cost, broken down. Tokens add up exactly, dollars but for rounding.
 *
 * A request is shared out among its sources as its context estimated them, in their order: the first tokens came from the cache, so
 * the end pays. What the model wrote is the source `answers`, by tool and call the row `rest`.
 *
 * @example
 * const trace = await openTrace('.delta/20261120_093000_a1b2c3')
 * for (const { key, cost } of await costTable([trace], 'source')) console.log(key, cost)
 */
export async function costTable<By extends CostKey>(traces: Iterable<Trace>, by: By): Promise<CostRows[By]> {
  const tables: { [Key in CostKey]: (traces: Iterable<Trace>) => Promise<CostRows[Key]> } = {
    source: bySource,
    step: byStep,
    tool: byTool,
    call: byCall,
    model: byModel,
    run: byRun,
  }
  return tables[by](traces)
}

/** Key of the row for what belongs to no tool and no call. */
const REST = '(rest)'

async function bySource(traces: Iterable<Trace>): Promise<Cost[]> {
  const rows = table(newCost)
  for (const trace of traces)
    for await (const step of trace.steps())
      for (const request of paidIn(step)) {
        for (const source of sourcesIn(request)) add(rows.at(source.source_id), shareOf(request, source))
        add(rows.at('answers'), answerOf(request))
      }
  const list = rows.list()
  return [...list.filter(({ key }) => key !== 'answers'), ...list.filter(({ key }) => key === 'answers')]
}

/** One source that is all of a request whose sources are not known, or were rewritten. */
function sourcesIn(request: SentRequest): (Share & { source_id: string })[] {
  const { blocks, rewrittenBy } = request
  if (rewrittenBy !== undefined) return [{ source_id: `(rewritten by ${rewrittenBy})`, ...wholeOf(request) }]
  if (blocks.some((block) => tokensIn(block) > 0)) return blocks
  return [{ source_id: '(not recorded)', ...wholeOf(request) }]
}

async function byStep(traces: Iterable<Trace>): Promise<StepCost[]> {
  const rows: StepCost[] = []
  for (const trace of traces) {
    const broken = new Set<number>()
    for await (const miss of cacheMisses(trace)) if (miss.broken) broken.add(miss.n)
    for await (const step of trace.steps()) {
      const requests = paidIn(step)
      if (requests.length === 0) continue
      const { runId } = trace.run
      const row: StepCost = {
        ...newCost(String(step.n)),
        runId,
        step: step.n,
        model: requests[0]?.model ?? '',
        brokeCache: broken.has(step.n),
        ms: step.modelMs ?? null,
      }
      for (const request of requests) {
        add(row, shareOf(request, wholeOf(request)))
        add(row, answerOf(request))
      }
      rows.push(row)
    }
  }
  return rows
}

async function byTool(traces: Iterable<Trace>): Promise<ToolCost[]> {
  const rows = table<ToolCost>((key) => ({ ...newCost(key), calls: 0, definition: 0, results: 0 }))
  const rest = { ...newCost(REST), calls: 0, definition: 0, results: 0 }
  for (const trace of traces) {
    const pieces = pieceReader(recordedParts(trace.run.directory))
    for await (const step of trace.steps()) {
      for (const request of paidIn(step)) {
        add(rest, answerOf(request))
        for (const piece of await piecesIn(request, pieces)) {
          const row = piece.tool === undefined ? rest : rows.at(piece.tool)
          add(row, shareOf(request, piece))
          if (row !== rest) row[piece.actionId === undefined ? 'definition' : 'results'] += tokensIn(piece)
        }
      }
      if (!step.inherited) for (const { name } of step.calls) rows.at(name).calls += 1
    }
  }
  return [...rows.list(), rest]
}

async function byCall(traces: Iterable<Trace>): Promise<CallCost[]> {
  const rows: CallCost[] = []
  const about = (runId: string) => ({ runId, step: null, tool: REST, status: null, exitCode: null, ms: null })
  for (const trace of traces) {
    const { directory, runId } = trace.run
    const pieces = pieceReader(recordedParts(directory))
    const calls = table<CallCost>((key) => ({ ...newCost(key), ...about(runId) }))
    const rest = { ...newCost(REST), ...about(runId) }
    for await (const step of trace.steps()) {
      for (const request of paidIn(step)) {
        add(rest, answerOf(request))
        for (const piece of await piecesIn(request, pieces))
          add(piece.actionId === undefined ? rest : calls.at(piece.actionId), shareOf(request, piece))
      }
      for (const { actionId, name, status, exitCode, durationMs } of step.calls)
        Object.assign(calls.at(actionId), {
          step: step.n,
          tool: name,
          status: status ?? null,
          exitCode,
          ms: durationMs,
        })
    }
    rows.push(...calls.list(), rest)
  }
  return rows
}

async function byModel(traces: Iterable<Trace>): Promise<ModelCost[]> {
  const rows = table<ModelCost>((key) => ({ ...newCost(key), runs: 0, requests: 0 }))
  for (const { run } of traces)
    for (const [name, { tokens, cost, estimated, requests }] of Object.entries(run.totals.by_model)) {
      const row = rows.at(name)
      add(row, { tokens, cost, estimated })
      row.requests += requests
      row.runs += 1
    }
  return rows.list()
}

async function byRun(traces: Iterable<Trace>): Promise<RunCost[]> {
  return [...traces].map(({ run }) => {
    const { tokens, cost, estimated, requests } = run.totals.all
    return {
      key: run.runId,
      tokens,
      cost,
      estimated,
      agent: run.metadata.agent_name,
      model: run.model,
      status: run.status,
      requests,
      subAgents: run.totals.sub_agents.runs,
      workspace: run.metadata.work_dir,
      task: run.metadata.initial_message,
    }
  })
}

/** The requests that a step paid for, used or not. */
function paidIn({ request, unused }: Step): SentRequest[] {
  return [...unused, ...(request?.isPaid ? [request] : [])]
}

/** One piece that is all of a request whose sources are not known, or were rewritten. */
async function piecesIn(request: SentRequest, read: ReturnType<typeof pieceReader>): Promise<Piece[]> {
  const pieces = request.rewrittenBy === undefined ? await read(request) : []
  return pieces.some((piece) => tokensIn(piece) > 0) ? pieces : [wholeOf(request)]
}

type Amount = Pick<Cost, 'tokens' | 'cost' | 'estimated'>

const NO_TOKENS: TokenSum = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }

/** What a share of a request cost. Tokens written for an hour are shared out as the others are. */
function shareOf({ tokens, price, cost }: SentRequest, share: Share): Amount {
  if (tokens === null) return { tokens: NO_TOKENS, cost: cost === 0 ? 0 : null, estimated: tokensIn(share) }
  const { read: cache_read, written: cache_write, new: input } = share
  const own = { ...NO_TOKENS, input, cache_read, cache_write }
  const forAnHour = tokens.cache_write === 0 ? 0 : (tokens.cache_write_1h ?? 0) / tokens.cache_write
  return {
    tokens: own,
    cost: price ? costOf({ ...own, cache_write_1h: cache_write * forAnHour }, price) : null,
    estimated: 0,
  }
}

/** All that a request read. Where the provider did not count it, the estimate is taken for new tokens. */
function wholeOf({ tokens, estimate }: SentRequest): Share {
  const { input = estimate, cache_read = 0, cache_write = 0 } = tokens ?? {}
  return { read: cache_read, written: cache_write, new: input }
}

/** What the model wrote. */
function answerOf({ tokens, price, cost }: SentRequest): Amount {
  if (tokens === null) return { tokens: NO_TOKENS, cost: cost === 0 ? 0 : null, estimated: 0 }
  const own = { ...NO_TOKENS, output: tokens.output, reasoning: tokens.reasoning }
  return { tokens: own, cost: price ? costOf(own, price) : null, estimated: 0 }
}

/** The sum of rows: their row `all`. */
export function sumOf(rows: readonly Cost[]): Cost {
  const sum = newCost('all')
  for (const row of rows) add(sum, row)
  return sum
}

function newCost(key: string): Cost {
  return { key, tokens: { ...NO_TOKENS }, estimated: 0, cost: null }
}

function add(row: Cost, { tokens, cost, estimated }: Amount): void {
  for (const bucket of Object.keys(NO_TOKENS) as (keyof TokenSum)[]) row.tokens[bucket] += tokens[bucket]
  row.estimated += estimated
  if (cost !== null) row.cost = (row.cost ?? 0) + cost
}

/** Rows by their key, in the order in which they came up. */
function table<Row>(make: (key: string) => Row) {
  const rows = new Map<string, Row>()
  return {
    at(key: string): Row {
      const row = rows.get(key) ?? make(key)
      rows.set(key, row)
      return row
    },
    list: (): Row[] => [...rows.values()],
  }
}
