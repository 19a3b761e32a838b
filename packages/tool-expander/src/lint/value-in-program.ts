import { baseName } from '../programs.js'
import { valuesOf } from '../shell/rules.js'
import { beginningOf, isParameter, isWholeParameter } from '../template.js'
import { readsProgram } from './fed-programs.js'
import type { FindingAt, LintFinding } from './finding.js'
import { handedIn } from './handed-commands.js'
import type { ExecSource, ScriptCommand, ShellSource, Source } from './source.js'

/** Programs that run a text given to them as a word. */
const RUNS_A_WORD = /^(?:[gmn]?awk|g?sed|jq|yq|perl|python[\d.]*|node|ruby|php|ssh)$/

/** A value that is a part of a program, and of which program. */
type Glued = [program: string, offset: number]

/** `awk '{ print ${n} }'` without a shell. */
export function valueInExecProgram(source: ExecSource): LintFinding[] {
  const { words, at } = source
  const program = baseName(beginningOf(words[0]?.pieces))
  const glued = (RUNS_A_WORD.test(program) ? words : []).flatMap(({ pieces }) => {
    const value = pieces.length > 1 ? pieces.find(isParameter) : undefined
    const isProgram = pieces.some((part) => typeof part === 'string' && /[\s(){}]|^[sy]\W/.test(part))
    return value && isProgram ? finding(at, [program, value.offset]) : []
  })
  return [...glued, ...gluedIntoHanded(source)]
}

/** The same in a script, and values that a program reads there and runs. */
export function valueInShellProgram(source: ShellSource): LintFinding[] {
  const glued = source.commands.flatMap((command) =>
    command.isFed && readsProgram(command) ? [fedTo(command)] : gluedIn(command),
  )
  return [...glued.map((each) => finding(source.at, each)), ...gluedIntoHanded(source)]
}

/** `rsync -e "ssh -p ${port}"` and the like. */
function gluedIntoHanded(source: Source): LintFinding[] {
  return handedIn(source).flatMap(({ runner, isProgram, values, hint }) => {
    const message = `The value becomes part of a command for ${runner}.`
    return (isProgram ? [] : values).map(({ offset }) => source.at('value-in-program', offset, message, hint))
  })
}

function finding(at: FindingAt, [program, offset]: Glued): LintFinding {
  const message = `The value becomes part of a program for ${program}.`
  return at('value-in-program', offset, message, 'Hand it over beside it: awk -v, jq --arg, sys.argv.')
}

function fedTo({ words }: ScriptCommand): Glued {
  return [nameOf(words[0]), words[0]?.offset ?? 0]
}

function gluedIn(command: ScriptCommand): Glued[] {
  const { words, documents } = command
  let program = ''
  const glued = words.flatMap((word): Glued[] => {
    const runner = program
    program ||= RUNS_A_WORD.test(nameOf(word)) ? nameOf(word) : ''
    const isProgram = word.quoted && !isWholeParameter(word.pieces) && /[\s(){}\\/]/.test(word.shape)
    return runner && isProgram ? valuesOf(word).map(({ offset }) => [runner, offset]) : []
  })
  const read = readsProgram(command) ? documents.flatMap(({ found }) => found) : []
  return [...glued, ...read.map(({ offset }): Glued => [nameOf(words[0]), offset])]
}

function nameOf(word: ScriptCommand['words'][number] | undefined): string {
  return baseName(beginningOf(word?.pieces))
}
