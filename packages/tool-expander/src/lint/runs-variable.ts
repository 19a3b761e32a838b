import { baseName, programIndex } from '../programs.js'
import { valuesOf } from '../shell/rules.js'
import { matchAt } from '../template.js'
import { hasOwnInput, readsScript } from './fed-programs.js'
import type { LintFinding } from './finding.js'
import type { Followed } from './follows-values.js'
import { setsRunLater } from './run-later.js'
import type { ScriptCommand, ShellSource } from './source.js'

/** A word the shell makes others of: file names, or the pieces of braces. */
const PATTERN = /[*?]|^[^[]*\[.+\]|^[^{]*\{.*(?:,|\.\.).*\}/

/** `<<< "$x"`: a placeholder there is what its author asked for. */
const COMPUTED_INPUT = /^[^\n;|&()<]*<<<\s*"?\$\w/
const COMPUTED = 'The shell runs what it computes here, which may hold a value.'

/** What a script with values runs and does not spell out. */
export function runsVariable(source: ShellSource, followed?: Followed): LintFinding[] {
  const { scan, commands, template, at } = source
  if (scan.found.length === 0) return []
  const reported = new Set<number | undefined>()
  const found = commands.flatMap((command) => {
    const name = setsRunLater(command)
    if (name !== undefined) {
      reported.add(command.offset)
      const message = `The shell runs what ${name} holds, which may be a value.`
      return [at('runs-variable', command.offset, message, 'Use a variable of another name.')]
    }
    const message = runsWhat(command, template)
    const hint = 'Write the command itself: "$x" is safe as an argument.'
    if (message === undefined) return []
    reported.add(command.offset)
    return [at('runs-variable', command.offset, message, hint)]
  })
  const split = commands.flatMap((command) => splitIn(source, command))
  const held = followed?.refused.filter(({ commandOffset }) => !reported.has(commandOffset)) ?? []
  return [
    ...found,
    ...split,
    ...held.map(({ offset, message, hint }) => at('runs-variable', offset, message, hint)),
  ]
}

function runsWhat(command: ScriptCommand, template: string): string | undefined {
  const { words, shapes } = command
  const [name = ''] = shapes
  if (changesNames(command)) return `${name || 'This'} changes what commands behind it run.`
  if (readsScript(command)) {
    if (!hasOwnInput(template, command)) return `${name} runs what it is fed here, which may hold a value.`
    if (COMPUTED_INPUT.test(template.slice(command.offset))) return COMPUTED
  }
  const program = programIndex(shapes)
  if (!words[program]?.quoted && PATTERN.test(shapes[program] ?? ''))
    return 'The shell makes a name of this pattern, and runs it.'
  return isComputed(command, program) ? COMPUTED : undefined
}

/** `[ $(echo ${x}) ]`, by programs that write what they are given. */
const WRITES_IT = /\$\(\s*(?:echo|printf|basename|dirname)\s[^|)]*\)/y

function splitIn({ template, names, at }: ShellSource, { words, shapes }: ScriptCommand): LintFinding[] {
  if (!/^(?:\[|test)$/.test(shapes[0] ?? '')) return []
  return words
    .filter(
      ({ found, offset }) =>
        matchAt(WRITES_IT, template, offset) && found.some(({ name }) => names.withCode.has(name)),
    )
    .map(({ offset }) => {
      const message = 'The shell splits this, which holds a value.'
      return at(
        'runs-variable',
        offset,
        message,
        'Write "$( … )": it can be several words, and options among them.',
      )
    })
}

/** Whether a command gives names to commands. */
function changesNames({ shapes: [name = '', ...operands], assignments }: ScriptCommand): boolean {
  return (
    name === 'alias' ||
    (name === 'shopt' && operands.includes('expand_aliases')) ||
    (name === 'hash' && operands.some((word) => word.startsWith('-p'))) ||
    assignments.some((word) => /^BASH_(?:ALIASES|CMDS)\b/.test(word.shape))
  )
}

/** Whether only the shell knows the program, or a text that is run. Values in such a place are the other rules' matter. */
function isComputed({ words, shapes, texts }: ScriptCommand, program: number): boolean {
  const places = shapes[0] === 'eval' ? [...shapes.keys()] : [program, ...texts.map(([index]) => index)]
  return places.some((index) => {
    const shape = index === program ? baseName(shapes[index] ?? '') : shapes[index]
    return shape?.includes('\0') && valuesOf(words[index]).length === 0
  })
}
