import { programIndex } from '../programs.js'
import { valuesOf } from '../shell/rules.js'
import { isParameter, type Placeholder } from '../template.js'
import type { LintFinding } from './finding.js'
import { handedIn } from './handed-commands.js'
import type { ExecSource, ShellSource, Source } from './source.js'

/** `env ${program}`: a value names the program. Without a wrapper before it, `exec:` refuses that itself. */
export function programChosenInExec(source: ExecSource): LintFinding[] {
  const { words } = source
  const index = programIndex(words.map(({ shape }) => shape))
  const pieces = index > 0 ? (words[index]?.pieces ?? []) : []
  return [...pieces.filter(isParameter).slice(0, 1), ...handedPrograms(source)].map(chosenIn(source))
}

/** `${program} --help`: a value names the program. */
export function programChosenInShell(source: ShellSource): LintFinding[] {
  const programs = source.commands.flatMap(({ words, shapes }) => valuesOf(words[programIndex(shapes)]))
  return [...programs.filter(isParameter), ...handedPrograms(source)].map(chosenIn(source))
}

/** `rsync -e ${program}` and the like. */
function handedPrograms(source: Source): Placeholder[] {
  return handedIn(source).flatMap(({ isProgram, values }) => (isProgram ? values : []))
}

function chosenIn({ at }: Source): (value: Placeholder) => LintFinding {
  return ({ offset }) =>
    at('program-chosen', offset, 'A value chooses the program that runs.', 'Write a tool for each program.')
}
