import type { CommandWord } from '../command-words.js'
import { baseName } from '../programs.js'
import { isParameter, isWholeParameter } from '../template.js'
import type { LintFinding } from './finding.js'
import type { ExecSource, ShellSource, Source } from './source.js'
import { startedProgram } from './started-program.js'

/** `printf ${text}` without a shell. */
export function valueInExecFormat(source: ExecSource): LintFinding[] {
  return formatsIn(source, source.words)
}

/** `printf "${text}\n"` in a script: `%` and `\` of the value mean something, and what begins with a dash is an option. */
export function valueInShellFormat(source: ShellSource): LintFinding[] {
  return source.commands.flatMap(({ words }) => formatsIn(source, words))
}

function formatsIn({ names, at }: Source, words: readonly CommandWord[]): LintFinding[] {
  const shapes = words.map(({ shape }) => shape)
  const program = startedProgram(shapes)
  if (baseName(shapes[program]) !== 'printf') return []
  const pieces = words[formatIndex(shapes, program)]?.pieces ?? []
  const value = pieces.filter(isParameter).find(({ name }) => names.withCode.has(name))
  if (value === undefined) return []
  const hint = isWholeParameter(pieces)
    ? `Write printf '%s\\n' \${${value.name}}.`
    : `Write %s in its place, and the value behind: printf 'name: %s\\n' \${${value.name}}`
  return [at('value-in-format', value.offset, 'The value becomes a format, or part of one.', hint)]
}

/** Behind `-v name` and `--`. */
function formatIndex(shapes: readonly string[], program: number): number {
  let index = program + 1
  if (shapes[index] === '-v') index += 2
  return shapes[index] === '--' ? index + 1 : index
}
