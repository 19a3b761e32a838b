import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { isInside } from '@delta/durable/internal'
import { type CommandOutcome, runCommand } from '@delta/executor'
import { timeInWords } from '@delta/model/internal'
import type { Scored } from './classify.js'
import { copyForScorer } from './copy-for-scorers.js'
import type { CellPaths } from './layout.js'
import { endProcessesOf } from './processes.js'
import { UNNAMED } from './schema.js'
import { numbersIn } from './stored.js'
import type { Scorer } from './types.js'

/** What the scorers of a cell look at. */
export interface Subject {
  cell: CellPaths
  workspace: string
  /** The task in `inputs/`. */
  input: string
  /** The scorers' files in `inputs/`. */
  files: string | undefined
  answer: string
  /** Path of the run's journal. */
  journal: string
  seed: number
  /** The worker's environment. */
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** A scorer that a signal ends is run again; after this many it is broken. */
const MOST_SIGNALS = 3
/** What a scorer may print. */
const MOST_OUTPUT_BYTES = 1e9
const DEFAULT_TIMEOUT = '10m'

/**
 * Runs one scorer of a cell, in a copy of the agent's files that is removed afterwards.
 *
 * @throws What the signal was aborted with. {CopyTooLarge} The system's error, such as `ENOSPC`.
 */
export async function scoreCell(scorer: Scorer, subject: Subject): Promise<Scored> {
  for (let signals = 0; ; ) {
    const scored = await scoreOnce(scorer, subject)
    subject.signal.throwIfAborted()
    if (scored !== 'signal') return scored
    signals += 1
    if (signals === MOST_SIGNALS)
      return broken('scorer_signal', `${nameOf(scorer)} was ended by a signal ${MOST_SIGNALS} times`)
  }
}

async function scoreOnce(scorer: Scorer, subject: Subject): Promise<Scored | 'signal'> {
  const room = join(subject.cell.scores, `.${randomBytes(8).toString('hex')}`)
  await mkdir(room, { recursive: true, mode: 0o700 })
  try {
    const copy = join(room, 'copy')
    await mkdir(copy)
    const { workspace, input } = subject
    await copyForScorer(copy, {
      workspace,
      template: join(input, 'workspace'),
      tests: join(input, 'tests'),
      take: scorer.take,
    })
    if (scorer.command === undefined) return await compare(scorer, copy, subject)
    return await runScorer(scorer, { room, copy }, subject)
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}

async function compare(scorer: Scorer, copy: string, { answer, input }: Subject): Promise<Scored> {
  const { equals, matches, file } = scorer
  const text = file === undefined ? answer : await textInside(copy, file)
  if (text === undefined) return score(0)
  if (matches !== undefined) return score(new RegExp(matches, 'm').test(text) ? 1 : 0)
  const wanted =
    typeof equals === 'string' ? equals : await textInside(join(input, 'tests'), equals?.tests ?? '')
  if (wanted === undefined)
    return broken('scorer_result', `${nameOf(scorer)}: the task has no tests/${Object(equals).tests}`)
  return score(text.trim() === wanted.trim() ? 1 : 0)
}

/** The text of a file that really lies there; undefined if there is none. */
async function textInside(directory: string, name: string): Promise<string | undefined> {
  try {
    const path = await realpath(join(directory, name))
    return isInside(path, await realpath(directory)) ? await readFile(path, 'utf8') : undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined
    throw error
  }
}

function score(value: number): Scored {
  return { kind: 'score', score: value, metrics: {} }
}

function broken(reason: Extract<Scored, { kind: 'broken' }>['reason'], detail: string): Scored {
  return { kind: 'broken', reason, detail }
}

async function runScorer(
  scorer: Scorer,
  { room, copy }: { room: string; copy: string },
  subject: Subject,
): Promise<Scored | 'signal'> {
  const { cell, signal } = subject
  const [home, temporary, about] = ['home', 'tmp', 'about'].map((name) => join(room, name)) as [
    string,
    string,
    string,
  ]
  for (const directory of [home, temporary, about]) await mkdir(directory)
  const scoreFile = join(about, 'score')
  const env = await environmentFor({ about, copy, home, temporary, scoreFile }, subject)
  const argv = typeof scorer.command === 'string' ? ['sh', '-c', scorer.command] : (scorer.command ?? [])
  const outcome = await runCommand(argv, {
    cwd: copy,
    env,
    signal,
    timeoutMs: timeInWords(scorer.timeout ?? DEFAULT_TIMEOUT),
    maxOutputBytes: MOST_OUTPUT_BYTES,
  })
  await endProcessesOf(cell.directory)
  await keepRecord(scorer, { argv, outcome, cell })
  return readOutcome(scorer, outcome, scoreFile)
}

interface Rooms {
  about: string
  copy: string
  home: string
  temporary: string
  scoreFile: string
}

/** All that a scorer finds in its environment. */
async function environmentFor(
  { about, copy, home, temporary, scoreFile }: Rooms,
  subject: Subject,
): Promise<NodeJS.ProcessEnv> {
  const { cell, input, files, answer, journal, seed, env } = subject
  const [answerFile, run, none] = [join(about, 'answer'), join(about, 'run'), join(about, 'none')]
  await writeFile(answerFile, answer)
  await mkdir(none)
  await mkdir(run)
  if (existsSync(journal)) await copyFile(journal, join(run, 'journal.jsonl'))
  return {
    PATH: (env.PATH ?? '').split(':').filter(isAbsolute).join(':'),
    HOME: home,
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    TASK: input,
    TESTS: join(input, 'tests'),
    SOLUTION: join(input, 'solution'),
    INPUTS: files ?? none,
    COPY: copy,
    ANSWER: answerFile,
    RUN_DIR: run,
    SCORE_FILE: scoreFile,
    DELTA_SEED: String(seed),
    DELTA_CELL: cell.directory,
  }
}

async function keepRecord(
  { name }: Scorer,
  { argv, outcome, cell }: { argv: readonly string[]; outcome: CommandOutcome; cell: CellPaths },
): Promise<void> {
  const directory = join(
    cell.scores,
    `${name}-${Math.max(0, ...numbersIn(cell.scores, { before: `${name}-` })) + 1}`,
  )
  await mkdir(directory)
  const { status, exitCode, signal, durationMs } = outcome
  await writeFile(join(directory, 'argv'), `${JSON.stringify(argv)}\n`)
  await writeFile(join(directory, 'stdout'), outcome.stdout.text)
  await writeFile(join(directory, 'stderr'), outcome.stderr.text)
  await writeFile(
    join(directory, 'exit.json'),
    `${JSON.stringify({ status, exit_code: exitCode, signal, ms: durationMs })}\n`,
  )
}

async function readOutcome(
  scorer: Scorer,
  outcome: CommandOutcome,
  scoreFile: string,
): Promise<Scored | 'signal'> {
  const { on_timeout, result = 'exit', pass = [0], fail = [1] } = scorer
  const shown = nameOf(scorer)
  const { status, exitCode } = outcome
  if (status === 'SIGNALED') return 'signal'
  if (status === 'TIMEOUT')
    return on_timeout === 0
      ? { kind: 'score', score: 0, metrics: { timed_out: 1 } }
      : broken('scorer_timeout', `${shown} timed out (on_timeout: 0 if that is the agent's fault)`)
  if (status === 'NOT_STARTED')
    return broken('scorer_exit', `${shown} did not start: ${outcome.startError.message}`)
  if (status !== 'EXITED') return broken('scorer_exit', `${shown} printed more than 1 GB`)
  if (result === 'exit' && pass.includes(exitCode)) return score(1)
  if (result === 'exit' && fail.includes(exitCode)) return score(0)
  if (result === 'exit' || exitCode !== 0)
    return broken(
      'scorer_exit',
      `${shown} exit ${exitCode}${result === 'exit' ? adviceOn(exitCode, fail) : ''}`,
    )
  const said = result === 'stdout' ? outcome.stdout.text : await readFile(scoreFile, 'utf8').catch(() => '')
  return (
    readScore(said) ??
    broken('scorer_result', `${shown}: ${JSON.stringify(lastLine(said).slice(0, 80))} is not a score`)
  )
}

/** The only scorer has no name of its own. */
export function nameOf({ name }: Scorer): string {
  return name === UNNAMED ? 'scorer' : `scorer ${name}`
}

/** 126 and above are the shell's own, as where there is no such command. */
function adviceOn(exitCode: number, fail: readonly number[]): string {
  return exitCode >= 126 ? '' : ` (fail: [${[...fail, exitCode].join(', ')}] if that is the agent's fault)`
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** A number that is at least 0, `null`, or an object with such a `score`; its other numbers are metrics. */
function readScore(text: string): Scored | undefined {
  const value = parsed(lastLine(text))
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const { score, ...others } = (isObject ? value : { score: value }) as Record<string, unknown>
  const metrics = Object.fromEntries(
    Object.entries(others).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  )
  if (score === null) return { kind: 'nothing', metrics }
  return typeof score === 'number' && Number.isFinite(score) && score >= 0
    ? { kind: 'score', score, metrics }
    : undefined
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
