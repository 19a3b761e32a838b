import { spawnSync } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { isPartThere, startProcess, type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { type Served, type ServeOptions, serve } from '@delta/view'
import { onTestFinished } from 'vitest'

/** A directory that goes away with the test. */
export function place(files: Record<string, string> = {}): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(files, { onCleanup: onTestFinished })
}

/** An event before it is numbered. */
export type Said = { type: string } & Record<string, unknown>

const START_MS = Date.parse('2026-11-20T09:00:00Z')

/** The lines of a journal whose events come a second after one another. */
export function journalOf(events: readonly Said[], firstSeq = 1): string {
  return events
    .map(({ type, iteration, ...more }, index) => {
      const seq = firstSeq + index
      const head = { seq, timestamp: new Date(START_MS + seq * 1000).toISOString(), type }
      return `${JSON.stringify({ ...head, ...(iteration !== undefined && { iteration }), ...more })}\n`
    })
    .join('')
}

export const start = (more: object = {}): Said => ({
  type: 'ENGINE_START',
  run_id: 'run',
  agent_name: 'fixer',
  work_dir: '/work',
  task: 'Go.',
  config: { llm: { model: 'm' }, tools: [{ name: 'bash' }] },
  ...more,
})
export const user = (content: string, more: object = {}): Said => ({ type: 'USER_MESSAGE', content, ...more })
const TOKENS = { input: 100, cache_read: 800, cache_write: 50, output: 20, reasoning: 5 }
const PRICE = { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10 }
/** 100 × 2 + 800 × 0.2 + 50 × 2.5 + 25 × 10 = 735 millionths of a dollar. */
export const COST = 0.000735
export const thought = (iteration: number, more: object = {}): Said => ({
  type: 'THOUGHT',
  iteration,
  content: `thought ${iteration}`,
  tool_calls: [],
  tokens: TOKENS,
  price: PRICE,
  model: 'm',
  ...more,
})
/** A thought that calls `bash` once, and what came of it. */
export const called = (iteration: number, more: object = {}): Said[] => {
  const call = {
    id: `c${iteration}`,
    action_id: `c${iteration}`,
    name: 'bash',
    arguments: '{"command":"true"}',
  }
  const about = { iteration, action_id: call.id, tool_name: 'bash' }
  return [
    thought(iteration, { tool_calls: [call] }),
    { type: 'ACTION_REQUEST', ...about, attempt: 1, resolved_command: 'true', argv: ['true'] },
    {
      type: 'ACTION_RESULT',
      ...about,
      status: 'SUCCESS',
      exit_code: 0,
      observation_content: `result ${iteration}\n`,
      duration_ms: 7,
      ...more,
    },
  ]
}

const SPENDING = { requests: 1, unreported: 0, estimated: 0, tokens: TOKENS, cost: COST, priced: 1 }

/** As an engine writes it. */
export const end = (iteration: number, more: object = {}): Said => ({
  type: 'ENGINE_END',
  run_id: 'run',
  status: 'COMPLETED',
  reason_code: 'answered',
  final_iteration: iteration,
  totals: {
    own: { runs: 1, ...SPENDING },
    sub_agents: { runs: 0, ...SPENDING, requests: 0, cost: null },
    all: { runs: 1, ...SPENDING },
    by_model: { m: SPENDING },
    prices: '2026-11-20',
    duration_ms: 5000,
    waited_ms: 0,
  },
  ...more,
})

/** A workspace whose runs have these events, by id. */
export async function workspaceOf(runs: Record<string, readonly Said[]>): Promise<string> {
  const files = Object.entries(runs).map(([id, events]) => [
    join('.delta', id, 'journal.jsonl'),
    journalOf(events),
  ])
  return (await place(Object.fromEntries(files))).path
}

/** A cell of an evaluation whose run has these events: `luna/calc/2`, with its result if it has one. */
export interface PlannedCell {
  name: string
  events: readonly Said[]
  result?: object
}

/** The files of the evaluation `x.eval`. */
export function evaluationOf(cells: readonly PlannedCell[]): Record<string, string> {
  const lines = cells.map(({ name }, index) => {
    const [variant, task, repeat] = name.split('/')
    return JSON.stringify({ cell: `c${index}`, variant, task, repeat: Number(repeat), seed: 1 })
  })
  const files = cells.flatMap(({ events, result }, index) => {
    const cell = `x.eval/cells/c${index}`
    return [
      [`${cell}/cell.json`, lines[index] ?? ''],
      [`${cell}/1/runs/c${index}-1/journal.jsonl`, journalOf(events)],
      ...(result ? [[`${cell}/result.json`, JSON.stringify({ attempt: 1, ...result })]] : []),
    ]
  })
  return { 'x.eval/plan.json': '{}', 'x.eval/manifest.jsonl': lines.join('\n'), ...Object.fromEntries(files) }
}

/** A page that is served for the test. Of an answer, everything. */
export interface Client extends Served {
  token: string
  /** With the token, unless `headers` says otherwise. */
  ask(path: string, options?: Asking): Promise<Answer>
  /** The JSON of a route. */
  get<Value>(path: string): Promise<Value>
}

interface Asking {
  method?: string
  headers?: Record<string, string>
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

const SHELL = '<!doctype html><title>delta</title><script type="module" src="/assets/app.1.js"></script>'

/** Serves some directories, on a port that is free. */
export async function serving(
  places: ServeOptions['places'],
  options: Partial<ServeOptions> = {},
): Promise<Client> {
  const { path: assets } = await place({ 'index.html': SHELL, 'app.1.js': 'export {}\n', 'notes.txt': 'no' })
  const served = await serve({ places, assets, ...options })
  onTestFinished(() => served.close())
  const [, token = ''] = /#t=([\w-]+)/.exec(served.url) ?? []
  const ask = (path: string, { method = 'GET', headers = {} }: Asking = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const all = { authorization: `Bearer ${token}`, ...headers }
      const asked = request(
        { host: '127.0.0.1', port: served.port, path, method, headers: all },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece) => pieces.push(piece))
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(pieces).toString(),
            }),
          )
          response.on('error', reject)
        },
      )
      asked.on('error', reject)
      asked.end()
    })
  return {
    ...served,
    token,
    ask,
    async get(path) {
      const { status, body } = await ask(path)
      if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
      return JSON.parse(body)
    },
  }
}

/** The browser of the tests, for `chromium.launch`; undefined where there is none, and none must be. */
export function installedChromium(): { executablePath: string; args: string[] } | undefined {
  const { stdout } = spawnSync('sh', [
    '-c',
    'command -v "$CHROMIUM" || command -v chromium || command -v google-chrome',
  ])
  const executablePath = stdout.toString().trim()
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return isPartThere('chromium', executablePath !== '') ? { executablePath, args } : undefined
}

/**
 * The server in a process of its own, whose memory is measured: it prints its address, and when it is ended the most it had.
 *
 * @param options.assets - Default: the page that is built.
 */
export async function servedApart(directory: string, options: { run?: string; assets?: string } = {}) {
  const program = `
    import { serve } from '@delta/view'
    const { url } = await serve(${JSON.stringify({ places: [directory], ...options })})
    console.log('at', url)
    process.on('SIGTERM', () => { console.log('most', process.resourceUsage().maxRSS); process.exit() })`
  const started = startProcess([process.execPath, '--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
  })
  onTestFinished(() => started.kill('SIGKILL'))
  const [, url = ''] = /at (\S+)/.exec(await started.waitForOutput(/at \S+\n/)) ?? []
  const [, token = ''] = /#t=([\w-]+)/.exec(url) ?? []
  const ask = async (route: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(new URL(route, url), { headers })).text()
  }
  return {
    url,
    ask,
    get: async <Value>(route: string) => JSON.parse(await ask(route)) as Value,
    /** Ends it. @returns The most memory that it had. Bytes. */
    async end() {
      started.kill('SIGTERM')
      const { stdout } = await started.result
      return Number(/most (\d+)/.exec(stdout)?.[1]) * 1024
    },
  }
}
