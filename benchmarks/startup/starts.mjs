// The starts that `startup.mjs` and `bounds.mjs` measure, and how they time them.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startScriptedServer, temporaryAgent } from '../../packages/testkit/dist/index.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const DELTA = here('../../apps/cli/bin.cjs')
const AI_SDK = here('../loop/ai-sdk.mjs')
const HELLO = here('../../examples/1-basics/hello-world')

/** What the tables call them. */
export const NAMES = {
  floor: 'empty node script (the floor)',
  version: 'delta --version',
  help: 'delta --help',
  listRuns: 'delta list-runs',
  expand: 'delta tool expand',
  script: 'delta run, one answer of a script',
  http: 'delta run, one answer over HTTP',
  cold: 'delta tool expand, nothing compiled before',
  aiSdk: 'AI SDK 6, one answer over HTTP',
}

/**
 * The starts by name, each with its `argv`, new for each start, and perhaps an `env`, and what they need until `close`. `runOf`
 * makes another one, of an agent with these settings.
 */
export async function prepareStarts() {
  const directory = mkdtempSync(join(tmpdir(), 'delta-bench-startup-'))
  const empty = join(directory, 'empty.js')
  writeFileSync(empty, '')
  const server = await startScriptedServer([{ content: 'Done.' }])
  const agents = []
  let runs = 0
  const runOf = async (settings = {}) => {
    const agent = await temporaryAgent(settings)
    agents.push(agent)
    const workspace = () => join(directory, `w${runs++}`)
    return { argv: () => [DELTA, 'run', '--agent', agent.path, '-m', 'Go', '-q', '-w', workspace()] }
  }
  const expand = { argv: () => [DELTA, 'tool', 'expand', HELLO] }
  return {
    runOf,
    starts: {
      [NAMES.floor]: { argv: () => [empty] },
      [NAMES.version]: { argv: () => [DELTA, '--version'] },
      [NAMES.help]: { argv: () => [DELTA, '--help'] },
      [NAMES.listRuns]: { argv: () => [DELTA, 'list-runs', '-w', directory] },
      [NAMES.expand]: expand,
      [NAMES.script]: await runOf(),
      [NAMES.http]: await runOf({ baseUrl: server.baseUrl }),
      [NAMES.cold]: { ...expand, env: { NODE_DISABLE_COMPILE_CACHE: '1' } },
      [NAMES.aiSdk]: { argv: () => [AI_SDK, server.baseUrl, directory, '1'] },
    },
    async close() {
      await Promise.all([server, ...agents].map((held) => held[Symbol.asyncDispose]()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Times two starts in turns, changing in each round which goes first: a machine grows faster and slower within
 * seconds, and both are to have the same share of it. A start before them compiles, and is not counted.
 *
 * @returns pairs of times, each in the order of the arguments
 */
export async function inTurns(one, other, { rounds, env }) {
  await timesOf(other, env)
  const pairs = []
  for (let round = 0; round < rounds; round++) {
    const [first, second] = round % 2 ? [one, other] : [other, one]
    const times = [await timesOf(first, env), await timesOf(second, env)]
    pairs.push(round % 2 ? times : times.toReversed())
  }
  return pairs
}

const TIMED = `TIMEFORMAT='%R %U %S'; time "$@" >/dev/null`

/** Milliseconds of one process, as bash reports them: the system's own counts per child have ticks of 10 ms. */
async function timesOf({ argv, env }, extra) {
  const { stderr } = await promisify(execFile)('bash', ['-c', TIMED, 'bash', process.execPath, ...argv()], {
    env: { ...process.env, DELTA_API_KEY: 'test-key-not-real', ...env, ...extra },
  })
  const [wall, user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number)
  return { wall: wall * 1000, cpu: (user + system) * 1000 }
}
