import { baseName, operandIndex } from '../programs.js'
import { type Runner, runnerNamed } from './runners.js'

/** A word that a program runs. */
export interface RunWord {
  index: number
  /** The name of the program. */
  runner: string
  /** It is only one word of several that make the text. */
  isJoined: boolean
}

/** The words of a command that are run by a program the expander itself does not follow, wherever its name stands. */
export function runWords(shapes: readonly string[]): RunWord[] {
  const start = shapes.findIndex((shape) => runnerNamed(baseName(shape)))
  const runner = baseName(shapes[start])
  const known = runnerNamed(runner)
  if (start < 0 || known === undefined) return []
  const operands = operandsOf(shapes, start, known)
  const isJoined = known.joins === true && operands.length > 1
  return [
    ...behindOptions(shapes, start, known).map((index) => ({ index, runner, isJoined: false })),
    ...operands.map((index) => ({ index, runner, isJoined })),
  ]
}

function behindOptions(shapes: readonly string[], start: number, { option }: Runner): number[] {
  if (option === undefined) return []
  return shapes.flatMap((shape, index) => {
    const [written] = (index > start && option.exec(shape)) || []
    if (written === undefined) return []
    return [written === shape ? index + 1 : index]
  })
}

function operandsOf(
  shapes: readonly string[],
  start: number,
  { from, isOne, takes, unless }: Runner,
): number[] {
  if (from === undefined || (unless && shapes.some((shape, index) => index > start && unless.test(shape))))
    return []
  const first = operandIndex(shapes, start, takes ?? /$^/g, from)
  return [...shapes.keys()].slice(first, isOne ? first + 1 : undefined)
}
