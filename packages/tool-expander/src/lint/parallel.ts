import type { CommandWord } from '../command-words.js'
import { baseName, operandIndex } from '../programs.js'
import { isParameter } from '../template.js'
import type { HandedCommand } from './handed-command.js'

/** Options of `parallel` that take a word. */
const TAKES_WORD =
  /^(?:-[A-Za-z]*[aCdEIjLNnPSs]|--(?:jobs|max-(?:args|procs)|colsep|delimiter|arg-file|arg-sep|sshlogin(?:file)?|joblog|results|timeout|retries|delay|halt|load|memfree|nice|block|tmpdir|workdir|wd|env|basefile|return|tagstring))$/g
const QUOTES = /^(?:-[A-Za-z]*q|--quote)$/

/** `parallel` joins the words up to `:::` and hands them to a shell; what stands behind that it quotes. */
export function joinedByParallel(
  words: readonly CommandWord[],
  shapes: readonly string[],
  start: number,
): HandedCommand[] {
  if (baseName(shapes[start] ?? '') !== 'parallel') return []
  const first = commandIndex(shapes, start)
  const end = shapes.findIndex((shape, index) => index >= first && shape.startsWith(':::'))
  // Without a command of its own, each word behind ::: is one.
  const isMissing = end === first
  if (!isMissing && shapes.slice(start, first).some((option) => QUOTES.test(option))) return []
  const joined = isMissing ? words.slice(end) : words.slice(first, end < 0 ? undefined : end)
  const values = joined.flatMap(({ pieces }) => pieces.filter(isParameter))
  const hint = isMissing ? 'Write the command before :::.' : 'Write it behind :::, or use parallel -q.'
  return [{ runner: 'parallel', isProgram: false, values, hint }]
}

/** Where the command stands that `parallel` is told, or `:::`, or the end. */
export function commandIndex(shapes: readonly string[], start: number): number {
  return operandIndex(shapes, start, TAKES_WORD)
}
