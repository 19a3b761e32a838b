import type { CommandWord } from '../command-words.js'
import { findProgramText, type ProgramText } from '../program-text.js'
import { baseName, programOf } from '../programs.js'
import { valuesOf } from '../shell/rules.js'
import { beginningOf, isParameter, isWholeParameter } from '../template.js'
import { fedPrograms } from './fed-by-values.js'
import { readsProgram } from './fed-programs.js'
import type { LintFinding } from './finding.js'
import { handedIn } from './handed-commands.js'
import { runWords } from './program-words.js'
import { putInScript } from './put-in-script.js'
import { hintFor } from './runners.js'
import type { ExecSource, ScriptCommand, ShellSource, Source } from './source.js'

/** A value that is a part of a program, and of which program. */
type Glued = [program: string, offset: number]

/** `awk '{ print ${n} }'` without a shell. */
export function valueInExecProgram(source: ExecSource): LintFinding[] {
  const { words } = source
  const shapes = words.map(({ shape }) => shape)
  const texts = findProgramText(shapes)
  return [...findings(source, gluedIn(source, words, shapes, texts)), ...gluedIntoHanded(source)]
}

/** The same in a script, and values that a program reads there and runs. */
export function valueInShellProgram(source: ShellSource): LintFinding[] {
  const glued = source.commands.flatMap((command) => {
    const { words, shapes, texts } = command
    return [...gluedIn(source, words, shapes, texts), ...readBy(source, command)]
  })
  return [
    ...findings(source, glued),
    ...fedPrograms(source),
    ...gluedIntoHanded(source),
    ...putInScript(source),
  ]
}

/** `rsync -e "ssh -p ${port}"` and the like. */
function gluedIntoHanded(source: Source): LintFinding[] {
  return handedIn(source).flatMap(({ runner, isProgram, values, hint }) => {
    const message = `The value becomes part of a command for ${runner}.`
    return (isProgram ? [] : values).map(({ offset }) => source.at('value-in-program', offset, message, hint))
  })
}

function findings({ at }: Source, glued: readonly Glued[]): LintFinding[] {
  return glued.map(([program, offset]) => {
    const message = `The value becomes part of a program for ${program}.`
    return at('value-in-program', offset, message, hintFor(program))
  })
}

/** A value that is the whole text is what its author wishes. */
function gluedIn(
  { names }: Source,
  words: readonly CommandWord[],
  shapes: readonly string[],
  texts: readonly ProgramText[],
): Glued[] {
  const run = [
    ...texts.flatMap(([index, runner, isJoined]) =>
      programOf(runner)?.isForeign ? [{ index, runner, isJoined }] : [],
    ),
    ...runWords(shapes),
  ]
  const seen = new Set<number>()
  return run.flatMap(({ index, runner, isJoined }): Glued[] => {
    const pieces = words[index]?.pieces ?? []
    if (seen.has(index) || (isWholeParameter(pieces) && !isJoined)) return []
    seen.add(index)
    const value = pieces.filter(isParameter).find(({ name }) => names.withCode.has(name))
    return value ? [[runner, value.offset]] : []
  })
}

/** Values in a here-document, or in a part of `<<< word`, that a program reads and runs. */
function readBy({ names }: Source, command: ScriptCommand): Glued[] {
  if (!readsProgram(command)) return []
  const glued = command.inputs.filter(({ pieces }) => !isWholeParameter(pieces))
  const values = [...command.documents.flatMap(({ found }) => found), ...glued.flatMap(valuesOf)]
  return values.flatMap(({ name, offset }): Glued[] =>
    names.withCode.has(name) ? [[nameOf(command.words[0]), offset]] : [],
  )
}

function nameOf(word: ScriptCommand['words'][number] | undefined): string {
  return baseName(beginningOf(word?.pieces))
}
