import type { CommandWord } from '../command-words.js'
import { baseName, mayStartAnother, namesOf } from '../programs.js'
import { TAKES_NAMES } from '../shell/rules.js'
import { isParameter } from '../template.js'
import type { HandedCommand } from './handed-command.js'
import { joinedByParallel } from './parallel.js'
import type { Source } from './source.js'
import { settingsIn } from './started-program.js'

// Commands that one program is told to run by another word than the first: `rsync -e`, `PAGER=`, `parallel`.

/** Options that take a command, alone or with it attached. */
const COMMAND_OPTIONS = new Map([
  ['rsync', /^(?:-[A-Za-df-z]*e|--(?:rsh|rsync-path)(?:=|$))/],
  ['scp', /^-[A-Za-z]*S$/],
  ['sftp', /^-[A-Za-z]*S$/],
  ['rg', /^--pre(?:=|$)/],
  ['tar', /^(?:-[A-Za-z]*[IF]|--(?:use-compress-program|to-command|info-script|new-volume-script)(?:=|$))/],
  ['man', /^(?:-[A-Za-z]*P|--pager(?:=|$))/],
  ['sort', /^--compress-program(?:=|$)/],
])
const COMMAND_VARIABLES = namesOf(
  'PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS RUSTC RUSTC_WRAPPER CC CXX RSYNC_RSH LESSOPEN LESSCLOSE',
)
/** Variables by which a program that is written finds or loads another one, and options of interpreters. */
const LOADING_VARIABLES = namesOf(
  'PATH ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PERL5OPT PERL5LIB PERL5DB PYTHONPATH PYTHONHOME PYTHONSTARTUP RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH MAKEFLAGS GNUMAKEFLAGS TAR_OPTIONS JAVA_TOOL_OPTIONS',
)

const OPTION_HINT = 'Give the value type: integer, a pattern or an enum, or write the whole command.'
const VARIABLE_HINT = `Hand it over beside it: KEY=\${key} GIT_SSH_COMMAND='ssh -i "$KEY"' git fetch`

/** The commands that a tool hands to programs, where values stand in them that could be anything. */
export function handedIn(source: Source): HandedCommand[] {
  const { open, withCode } = source.names
  const handed =
    source.syntax === 'exec'
      ? handedBy(source.words, [])
      : source.commands.flatMap(({ words, assignments }) => handedBy(words, assignments))
  return handed
    .map((each) => ({
      ...each,
      values: each.values.filter(({ name }) => (each.isProgram ? open : withCode).has(name)),
    }))
    .filter(({ values }) => values.length > 0)
}

function handedBy(words: readonly CommandWord[], assignments: readonly CommandWord[]): HandedCommand[] {
  const shapes = words.map(({ shape }) => shape)
  const startsAnother = mayStartAnother(shapes[0])
  const places = [...shapes.keys()].filter((index) => index === 0 || startsAnother)
  const settings = TAKES_NAMES.has(shapes[0] ?? '')
    ? words.slice(1)
    : settingsIn(shapes).flatMap((index) => words[index] ?? [])
  return [
    ...[...assignments, ...settings].flatMap(inVariable),
    ...places.flatMap((index) => behindOptions(words, shapes, index)),
    ...places.flatMap((index) => joinedByParallel(words, shapes, index)),
  ]
}

function inVariable(word: CommandWord): HandedCommand[] {
  const [written, name = ''] = /^(\w+)\+?=/.exec(word.shape) ?? []
  if (LOADING_VARIABLES.has(name)) {
    const values = word.pieces.filter(isParameter)
    return [{ runner: name, isProgram: true, values, hint: VARIABLE_HINT }]
  }
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
