import type { CommandWord } from '../command-words.js'
import { valuesOf } from '../shell/rules.js'
import { isParameter, type Placeholder } from '../template.js'
import type { LintFinding } from './finding.js'
import { handedIn } from './handed-commands.js'
import type { ExecSource, ShellSource, Source } from './source.js'
import { settingsIn, startedProgram } from './started-program.js'

/** `env ${program}`: a value names the program. Without a wrapper before it, `exec:` refuses that itself. */
export function programChosenInExec(source: ExecSource): LintFinding[] {
  const { words } = source
  const shapes = words.map(({ shape }) => shape)
  const pieces = words[startedProgram(shapes)]?.pieces ?? []
  return [
    ...chosenIn(source, pieces.filter(isParameter).slice(0, 1)),
    ...variablesChosenIn(source, words, shapes),
    ...handedPrograms(source),
  ]
}

/** `${program} --help`: a value names the program. */
export function programChosenInShell(source: ShellSource): LintFinding[] {
  const { commands } = source
  const programs = commands.flatMap(({ words, shapes }) => valuesOf(words[startedProgram(shapes)]))
  return [
    ...chosenIn(source, programs.filter(isParameter)),
    ...commands.flatMap(({ words, shapes }) => variablesChosenIn(source, words, shapes)),
    ...handedPrograms(source),
  ]
}

/** `rsync -e ${program}`, `PATH=${directory}` and the like. */
function handedPrograms(source: Source): LintFinding[] {
  return handedIn(source).flatMap(({ runner, isProgram, values }) =>
    isProgram ? chosenIn(source, values, `By ${runner} a value chooses the program that runs.`) : [],
  )
}

/** What its author lists chooses among programs he knows, and `true` and `false` are programs. */
function chosenIn(
  source: Source,
  values: readonly Placeholder[],
  message = 'A value chooses the program that runs.',
): LintFinding[] {
  const hint = 'Write a tool for each program, or give the value an enum or type: boolean.'
  return ofTheModel(source, values).map(({ offset }) => source.at('program-chosen', offset, message, hint))
}

/** `env ${key}=${value}`: the names that mean something are PATH, BASH_ENV and many more; behind a prefix there are few. */
function variablesChosenIn(
  source: Source,
  words: readonly CommandWord[],
  shapes: readonly string[],
): LintFinding[] {
  const names = settingsIn(shapes).flatMap((index) => words[index]?.pieces.slice(0, 1) ?? [])
  const message = 'A value names the variable: PATH or BASH_ENV would choose what runs.'
  const hint = 'Write a beginning that no such name has: env APP_${key}=${value} …. Or give the name an enum.'
  return ofTheModel(source, names.filter(isParameter)).map(({ offset }) =>
    source.at('program-chosen', offset, message, hint),
  )
}

/** The values that could be anything a model sends. */
function ofTheModel({ names }: Source, values: readonly Placeholder[]): Placeholder[] {
  return values.filter(({ name }) => names.open.has(name))
}
