import type { CommandWord } from '../command-words.js'
import { baseName, mayStartAnother, namesOf, programIndex } from '../programs.js'
import { TAKES_NAMES } from '../shell/rules.js'
import { isParameter, type Placeholder } from '../template.js'
import type { ExpandedParameter } from '../tool.js'
import { joinedByParallel } from './parallel.js'
import type { Source } from './source.js'

// Commands that one program is told to run by another word than the first: `rsync -e`, `PAGER=`, `parallel`.

/** A place that holds such a command, with the values in it. */
export interface HandedCommand {
  /** What runs it. */
  runner: string
  /** Only the program, without arguments of its own. */
  isProgram: boolean
  values: Placeholder[]
  hint: string
}

/** Options that take a command, alone or with it attached. */
const COMMAND_OPTIONS = new Map([
  ['rsync', /^(?:-[A-Za-df-z]*e|--(?:rsh|rsync-path)(?:=|$))/],
  ['scp', /^-[A-Za-z]*S$/],
  ['sftp', /^-[A-Za-z]*S$/],
  ['rg', /^--pre(?:=|$)/],
  ['sort', /^--compress-program(?:=|$)/],
])
const COMMAND_VARIABLES = namesOf(
  'PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER RSYNC_RSH LESSOPEN LESSCLOSE',
)

const OPTION_HINT = 'Give the value type: integer or an enum, or write the whole command.'
const VARIABLE_HINT = `Hand it over beside it: KEY=\${key} GIT_SSH_COMMAND='ssh -i "$KEY"' git fetch`

/** The commands that a tool hands to programs, where values stand in them that could be anything. */
export function handedIn(source: Source): HandedCommand[] {
  const harmless = new Set(source.parameters.filter(isHarmless).map(({ name }) => name))
  const handed =
    source.syntax === 'exec'
      ? handedBy(source.words, [])
      : source.commands.flatMap(({ words, assignments }) => handedBy(words, assignments))
  return handed
    .map((each) => ({ ...each, values: each.values.filter(({ name }) => !harmless.has(name)) }))
    .filter(({ values }) => values.length > 0)
}

/** True for a value that can only be what its author allows, or has no place for a command. */
function isHarmless({ type, enum: values }: ExpandedParameter): boolean {
  return values !== undefined || type === 'integer' || type === 'number' || type === 'boolean'
}

function handedBy(words: readonly CommandWord[], assignments: readonly CommandWord[]): HandedCommand[] {
  const shapes = words.map(({ shape }) => shape)
  const startsAnother = mayStartAnother(shapes[0])
  const places = [...shapes.keys()].filter((index) => index === 0 || startsAnother)
  return [
    ...[...assignments, ...words.slice(0, settingsEnd(shapes))].flatMap(inVariable),
    ...places.flatMap((index) => behindOptions(words, shapes, index)),
    ...places.flatMap((index) => joinedByParallel(words, shapes, index)),
  ]
}

/** Where the words end that may set variables: those of `export`, and those before what `env` starts. */
function settingsEnd(shapes: readonly string[]): number {
  return TAKES_NAMES.has(shapes[0] ?? '') ? shapes.length : Math.max(programIndex(shapes), 0)
}

function inVariable(word: CommandWord): HandedCommand[] {
  const [written, name = ''] = /^(\w+)\+?=/.exec(word.shape) ?? []
  if (written === undefined || !COMMAND_VARIABLES.has(name)) return []
  return [handed(name, word, word.shape.slice(written.length), VARIABLE_HINT)]
}

function behindOptions(
  words: readonly CommandWord[],
  shapes: readonly string[],
  start: number,
): HandedCommand[] {
  const runner = baseName(shapes[start] ?? '')
  const option = COMMAND_OPTIONS.get(runner)
  if (option === undefined) return []
  return shapes.slice(start + 1).flatMap((shape, index) => {
    const [written] = option.exec(shape) ?? []
    if (written === undefined) return []
    const isAttached = written !== shape
    const word = words[start + 1 + index + Number(!isAttached)]
    const text = isAttached ? shape.slice(written.length) : (word?.shape ?? '')
    return word ? [handed(runner, word, text, OPTION_HINT)] : []
  })
}

function handed(runner: string, { pieces }: CommandWord, text: string, hint: string): HandedCommand {
  return { runner, isProgram: !/\s/.test(text), values: pieces.filter(isParameter), hint }
}
