import { findUnreplaced } from '@delta/executor'
import type { Findings } from '../findings.js'
import { formatPath, parsePath, type ValuePath } from '../path.js'
import type { YamlFile } from '../yaml/file.js'
import { commaHint } from './comma-in-text.js'
import type { ShapeProblem } from './shape-problem.js'

/** Reports what `fitShape` found about the value at `base` of a file. */
export function reportShape(
  problems: readonly ShapeProblem[],
  file: YamlFile,
  findings: Findings,
  base: ValuePath = [],
): void {
  for (const problem of problems) {
    const path = [...base, ...problem.path]
    if (problem.unknownKey) {
      findings.unknownKey(
        file.locate(path, { key: true }),
        sentence(path.slice(0, -1), problem.message),
        commaHint(file, path) ?? problem.hint,
      )
    } else {
      findings.error(file.locate(path), sentence(path, problem.message), problem.hint)
    }
  }
}

/** What the parsers of other packages report: a path inside the value they were given, and words. */
export interface ForeignProblem {
  path: string
  message: string
  hint?: string
  /** The path is that of a key nobody reads. */
  unknownKey?: true
  /** The key is what is wrong, and its value may be for nobody to see. */
  misplacedKey?: true
}

/** Reports what another package's parser found about the value at `base` of a file. */
export function reportForeign(
  problems: readonly ForeignProblem[],
  file: YamlFile,
  base: ValuePath,
  report: Findings['error'],
): void {
  for (const { path, message, hint, unknownKey = false, misplacedKey: key = unknownKey } of problems) {
    const whole = [...base, ...parsePath(path)]
    const advice = (unknownKey ? commaHint(file, whole) : undefined) ?? hint
    report(file.locate(whole, { key }), sentence(unknownKey ? whole.slice(0, -1) : whole, message), advice)
  }
}

/** What a command without a shell may hold. */
const ENGINE_VARIABLES = ['AGENT_HOME', 'CWD']

/** Warns of what will reach the program of the command at `base` as it is written, though it looks like more. */
export function reportUnreplaced(
  command: readonly string[],
  file: YamlFile,
  base: ValuePath,
  findings: Findings,
  /** What to write for `${name}`. */
  adviceFor?: (name: string) => string,
): void {
  for (const { index, column, name, message, hint } of findUnreplaced(command, ENGINE_VARIABLES)) {
    const path = [...base, index]
    const advice = name === undefined ? undefined : adviceFor?.(name)
    findings.warn(file.locate(path, { column }), sentence(path, message), advice ?? hint)
  }
}

/** `llm.model: must be a text, not 5.` */
export function sentence(path: ValuePath, message: string): string {
  const place = formatPath(path)
  const ended = /[.!?:]$/.test(message) ? message : `${message}.`
  return place === '' ? ended : `${place}: ${ended}`
}
