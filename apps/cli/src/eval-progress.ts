import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type EvalCommands, type EvalStatus, evalStatus, isEvaluationError, isOfEvalFile } from '@delta/evals'
import type { Terminal } from './terminal.js'
import { counted, money, printable, say } from './text.js'

/** Without a terminal, a line is printed at each tenth and after this time. */
const QUIET_MS = 60_000
const BAR = 20

/** Shows how far an evaluation is: one line that moves on a terminal, else a line now and then. */
export function evalProgress(directory: string, terminal: Terminal, { quiet }: { quiet: boolean }) {
  const { stderr } = terminal
  let timer: NodeJS.Timeout | undefined
  let tenth = 0
  let saidAt = performance.now()

  function look(): void {
    const began = performance.now()
    const status = statusNow()
    if (status !== undefined) tell(status)
    // a large evaluation on a slow disk is looked at less often
    timer = setTimeout(look, Math.max(1000, 20 * (performance.now() - began)))
    timer.unref()
  }

  function tell(status: EvalStatus): void {
    if (stderr.isTTY) stderr.write(`\r\u001b[K${cut(lineOf(status), stderr.columns)}`)
    else sayNowAndThen(status)
  }

  /** Undefined where there is no plan to go by: the worker tells it. */
  function statusNow(): EvalStatus | undefined {
    try {
      return evalStatus(directory)
    } catch (error) {
      if (isEvaluationError(error)) return undefined
      throw error
    }
  }

  function sayNowAndThen(status: EvalStatus): void {
    const { planned } = status.cells
    const now = Math.floor((10 * doneIn(status)) / Math.max(1, planned))
    if (now === tenth && performance.now() - saidAt < QUIET_MS) return
    tenth = now
    saidAt = performance.now()
    say(terminal, lineOf(status).trim())
  }

  if (!quiet) timer = setTimeout(look, 1000).unref()
  return {
    end(): void {
      clearTimeout(timer)
      if (!quiet && stderr.isTTY) stderr.write('\r\u001b[K')
    },
  }
}

function cut(line: string, columns = 80): string {
  return line.length < columns ? line : line.slice(0, columns - 1)
}

function doneIn({ cells }: EvalStatus): number {
  return cells.scored + cells.unscored_agent + cells.unscored_infra + cells.invalid
}

/** ` 213/340 scored ████████████▌░░░░░░░  16 running  3 infra  21/min  ETA 6m05s  4.1M tokens  $12.34 (priced 100 %)` */
function lineOf(status: EvalStatus): string {
  const { cells, rate_per_minute: rate, eta_s, totals } = status
  const parts = [
    ` ${cells.scored + cells.unscored_agent}/${cells.planned} scored ${barOf(doneIn(status) / Math.max(1, cells.planned))}`,
    cells.running > 0 && `${cells.running} running`,
    cells.lost > 0 && `${cells.lost} lost`,
    cells.unscored_infra > 0 && `${cells.unscored_infra} infra`,
    cells.invalid > 0 && `${cells.invalid} invalid`,
    eta_s !== null && rate !== null && `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/min`,
    eta_s !== null && `ETA ${timeOf(eta_s)}`,
    totals.tokens > 0 && `${tokensOf(totals.tokens)} tokens`,
    totals.cost !== null && `${money(totals.cost)} (priced ${Math.floor(100 * totals.priced)} %)`,
  ]
  return parts.filter((part) => part !== false).join('  ')
}

function barOf(share: number): string {
  const halves = Math.round(share * BAR * 2)
  const full = Math.floor(halves / 2)
  const half = halves % 2 === 1 ? '▌' : ''
  return `${'█'.repeat(full)}${half}${'░'.repeat(BAR - full - half.length)}`
}

function timeOf(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const two = (number: number) => String(number).padStart(2, '0')
  return hours > 0 ? `${hours}h${two(minutes)}m` : `${minutes}m${two(seconds % 60)}s`
}

function tokensOf(count: number): string {
  if (count < 10_000) return String(Math.round(count))
  return count < 1e6 ? `${Math.round(count / 1000)}k` : `${(count / 1e6).toFixed(1)}M`
}

/** Where an evaluation stands, for people. */
export function statusInWords(status: EvalStatus, { run, retry }: EvalCommands, { cwd }: Terminal): string {
  const { cells, left, unscored, workers, scorer_stderr } = status
  const reasons = Object.keys(unscored)
  const open = cells.pending + cells.lost
  const lines = [
    lineOf(status),
    cells.running > 0 && `running: ${cells.running}, by ${workers.join(', ')}`,
    open > 0 && `${counted(open, 'cell')} left: ${run}`,
    ...Object.entries(unscored).map(([reason, count]) => withCount(reason, count)),
    scorer_stderr !== null && stderrLine(scorer_stderr, cwd),
    reasons.some(isOfEvalFile) && `Once eval.yaml or its scorers are changed: ${run}`,
    reasons.length > 0 &&
      `${reasons.some(isOfEvalFile) ? 'If the fault was elsewhere' : 'Once that is fixed'}: ${retry}`,
    left > 0 && `${counted(left, 'cell')} no longer planned: not counted`,
  ]
  return `${lines.filter((line) => line !== false).join('\n')}\n`
}

/** Where a scorer told what is wrong, and its last words. */
function stderrLine(path: string, cwd: string): string {
  const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  return `${relative(cwd, path)}: ${printable(last.slice(0, MOST_SHOWN))}`
}

const MOST_SHOWN = 200

/** `timed out (advice)` as `timed out (3 cells; advice)`. */
function withCount(reason: string, cells: number): string {
  const [, what = reason, advice] = /^(.*) \((.*)\)$/.exec(reason) ?? []
  return `${what} (${counted(cells, 'cell')}${advice === undefined ? '' : `; ${advice}`})`
}
