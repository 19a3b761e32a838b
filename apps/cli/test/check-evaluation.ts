import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifyRun } from '@delta/journal/internal'

/** A line of `manifest.jsonl`. */
export interface PlannedCell {
  cell: string
  variant: string
  task: string
  repeat: number
  seed: number
}

/** What happened to the cells of an evaluation, told by the programs that took part. */
export interface Witness {
  /** A file outside of the evaluation, to which agents append `agent CELL NANOSECONDS` and scorers `scorer CELL NONCE EXIT-CODE`. */
  path: string
}

interface Expected {
  witness: Witness
  /** What the agent of a cell truly does. */
  scoreOf: (cell: PlannedCell) => number
}

/** The cells that are planned. */
export function plannedCells(directory: string): PlannedCell[] {
  return readFileSync(join(directory, 'manifest.jsonl'), 'utf8').trim().split('\n').map(parse)
}

const parse = (line: string) => JSON.parse(line)

/**
 * What an evaluation promises, looked up in its files and in the process table alone; nothing of `@delta/evals` is asked.
 *
 * @returns What is not so, each with its cell. Empty: all is well.
 */
export function problemsIn(directory: string, { witness, scoreOf }: Expected): string[] {
  const told = readWitness(witness.path)
  const cells = plannedCells(directory)
  const names = readdirSync(join(directory, 'cells')).sort()
  const strange = names.filter((name) => !cells.some(({ cell }) => cell === name))
  return [
    ...strange.map((name) => `${name}: nobody planned it`),
    ...cells.flatMap((cell) => {
      const found = problemsOfCell(join(directory, 'cells', cell.cell), cell, { told, score: scoreOf(cell) })
      return found.map((problem) => `${cell.variant}/${cell.task}/${cell.repeat} ${cell.cell}: ${problem}`)
    }),
    ...processesBelow(directory).map((pid) => `process ${pid} carries a DELTA_CELL of it`),
  ]
}

function problemsOfCell(
  path: string,
  { cell, seed }: PlannedCell,
  { told, score }: { told: ReturnType<typeof readWitness>; score: number },
): string[] {
  const resultPath = join(path, 'result.json')
  if (!existsSync(resultPath)) return ['it has no result']
  const { mtimeNs, nlink } = statSync(resultPath, { bigint: true })
  const result = parse(readFileSync(resultPath, 'utf8'))
  const runs = readdirSync(join(path, '1/runs'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  const last = lastScoring(join(path, 'scores'))
  const agent = told.agents.get(path) ?? []
  const scorer = told.scorers.get(path) ?? []
  const leases = readdirSync(join(path, 'lease')).filter((name) => /^\d+$/.test(name))
  return Object.entries({
    'its result has other links': nlink === 1n,
    'its result is that of another cell': result.cell === cell && result.seed === seed,
    [`it is ${result.state} (${result.reason}: ${result.detail})`]: result.state === 'scored',
    [`its score is ${result.score}, not ${score}`]: result.score === score,
    'it was scored before': !existsSync(join(path, 'results')),
    'it has a second attempt': !existsSync(join(path, '2')),
    'it has other runs': runs.length === 1 && runs[0] === `${cell}-1`,
    'its journal does not verify': findingsOf(join(path, '1/runs', `${cell}-1`)).length === 0,
    'a file without a name is left': !readdirSync(path).some((name) => name.startsWith('.')),
    'a copy of a scorer is left': !readdirSync(join(path, 'scores')).some((name) => name.startsWith('.')),
    'its agent acted after its result': agent.every((time) => time < mtimeNs),
    'what its scorer printed is lost': scorer.some(({ nonce }) => nonce === last.nonce),
    'its scorer said something else': last.exitCode === (score === 1 ? 0 : 1),
    'its lease was not given back': leases.some((name) => isReleased(join(path, 'lease', name))),
    'its lease is not that of its result': leases.includes(String(result.epoch)),
  }).flatMap(([problem, isWell]) => (isWell ? [] : [problem]))
}

function findingsOf(run: string): unknown[] {
  return verifyRun(run).findings.filter(({ kind }) => kind !== 'note')
}

/** The scoring with the highest number: all its files are whole. */
function lastScoring(scores: string): { nonce: string; exitCode: unknown } {
  const number = Math.max(...readdirSync(scores).map((name) => Number(/-(\d+)$/.exec(name)?.[1] ?? 0)))
  const path = join(scores, `score-${number}`)
  const [exit, stdout] = ['exit.json', 'stdout'].map((name) => join(path, name)) as [string, string]
  if (!existsSync(exit) || !existsSync(stdout)) return { nonce: 'none', exitCode: undefined }
  return {
    nonce: /^nonce (\S+)$/m.exec(readFileSync(stdout, 'utf8'))?.[1] ?? 'none',
    exitCode: parse(readFileSync(exit, 'utf8')).exit_code,
  }
}

function isReleased(path: string): boolean {
  return readFileSync(path, 'utf8').includes('"released"')
}

function readWitness(path: string) {
  const agents = new Map<string, bigint[]>()
  const scorers = new Map<string, { nonce: string; exitCode: number }[]>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [who, cell = '', what = '', code] = line.split(' ')
    if (who === 'agent') agents.set(cell, [...(agents.get(cell) ?? []), BigInt(what)])
    if (who === 'scorer')
      scorers.set(cell, [...(scorers.get(cell) ?? []), { nonce: what, exitCode: Number(code) }])
  }
  return { agents, scorers }
}

/** The processes that carry a `DELTA_CELL` below a directory. */
export function processesBelow(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isBelow(name, directory))
    .map(Number)
}

function isBelow(pid: string, directory: string): boolean {
  try {
    const isDead = /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return !isDead && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`\0DELTA_CELL=${directory}/`)
  } catch {
    return false // it ended meanwhile
  }
}
