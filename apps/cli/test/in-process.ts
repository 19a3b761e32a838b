import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Script } from 'node:vm'
import type { ProcessResult } from '@delta/testkit'

interface Surroundings {
  cwd?: string | undefined
  env: NodeJS.ProcessEnv
  input?: string | undefined
}

/**
 * Runs the built command in the process of the test, with an outside world of its own, for a quarter of what a process costs. What
 * kills, stops or hangs the command, or is about a terminal, needs a process: `startDelta`.
 *
 * @param argv - As in a process: node, the program, then the words.
 */
export async function runInProcess(
  argv: readonly string[],
  { cwd, env, input = '' }: Surroundings,
): Promise<ProcessResult> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const printed = Promise.all([text(stdout), text(stderr)])
  const { main } = load('./main.cjs') as typeof import('../src/main.js')
  const host = Object.assign(new EventEmitter(), {
    argv: [...argv],
    env: { ...env },
    cwd: () => process.cwd(),
    stdin: Readable.from([Buffer.from(input)], { objectMode: false }),
    stdout,
    stderr,
    exit: () => {
      throw new Error('The command wants to end its process. Start one: startDelta.')
    },
  })
  const where = { cwd: cwd ?? HOME.cwd, env: asked(env) }
  const exitCode = await within(where, () => main(host as unknown as NodeJS.Process))
  stdout.end()
  stderr.end()
  const [out, err] = await printed
  return { exitCode, signal: null, stdout: out, stderr: err }
}

/** What a command, or what it calls, asks the process instead of its terminal. */
interface Place {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Where programs, temporary files, the person's own files and proxies are; and the state directory, for sandboxes. */
const ASKED = ['DELTA_STATE_DIR', 'HOME', 'HTTPS_PROXY', 'HTTP_PROXY', 'LANG', 'NO_PROXY', 'PATH', 'TMPDIR']

const asked = (env: NodeJS.ProcessEnv) => Object.fromEntries(ASKED.map((name) => [name, env[name]]))
const HOME: Place = { cwd: process.cwd(), env: asked(process.env) }
let place = HOME
let running = 0

/** Commands may run side by side, but in one place. */
async function within<Result>(where: Place, run: () => Promise<Result>): Promise<Result> {
  if (running > 0 && !isDeepStrictEqual(where, place))
    throw new Error('A process is in one place. For commands side by side in several: deltaProcess.')
  running += 1
  moveTo(where)
  try {
    return await run()
  } finally {
    running -= 1
    if (running === 0) moveTo(HOME)
  }
}

function moveTo(where: Place): void {
  process.chdir(where.cwd)
  for (const [name, value] of Object.entries(where.env)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  place = where
}

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const require = createRequire(import.meta.url)
const loaded = new Map<string, { exports: unknown }>()

/** Loads a bundle of the built command, which the build has wrapped in a function, as `start.ts` does. */
function load(name: string): unknown {
  const known = loaded.get(name)
  if (known) return known.exports
  const module = { exports: {} as unknown }
  loaded.set(name, module)
  const filename = join(DIST, name)
  const bundle = new Script(readFileSync(filename, 'latin1'), { filename }).runInThisContext()
  bundle(
    module.exports,
    (id: string) => (id.startsWith('./') ? load(id) : require(id)),
    module,
    filename,
    DIST,
  )
  return module.exports
}
