import type { CommandWord } from '../command-words.js'
import { isOptional } from '../optional.js'
import { beginningOf, isParameter, writePart } from '../template.js'
import { complaintAbout } from '../values.js'
import type { LintFinding } from './finding.js'
import { giveDefault } from './optional-moves-words.js'
import type { ExecSource, ShellSource, Source } from './source.js'

/** `cc -o${x} main.c` without a shell. */
export function emptiedInExec(source: ExecSource): LintFinding[] {
  return emptiedOptions(source, source.words)
}

/** The same in a script, where a missing value is an empty one. */
export function emptiedInShell(source: ShellSource): LintFinding[] {
  return source.commands.flatMap(({ words }) => emptiedOptions(source, words))
}

/** `-o${x}` without its value is `-o`, which takes what stands behind it. */
function emptiedOptions({ parameters, at }: Source, words: readonly CommandWord[]): LintFinding[] {
  return words.flatMap(({ pieces, shape }, index) => {
    const value = pieces.find(isParameter)
    const behind = words[index + 1]
    if (!value || !/^-[^-]\0$/.test(shape) || !behind || behind.shape.startsWith('-')) return []
    const { name, offset } = value
    const parameter = parameters.find((each) => each.name === name)
    if (!parameter) return []

    const option = beginningOf(pieces)
    const taken = `${option} may take ${textOf(behind)} for its value.`
    if (isOptional(parameter))
      return [at('optional-moves-words', offset, `Without ${name}, ${taken}`, giveDefault(name))]
    if (complaintAbout(parameter, '') !== undefined) return []
    const hint = `Write ${option} \${${name}}, or give ${name} a pattern, as in .+`
    return [at('optional-moves-words', offset, `When ${name} is empty, ${taken}`, hint)]
  })
}

/** What only a shell knows has no text yet. */
function textOf({ pieces }: CommandWord): string {
  return pieces.map((piece) => (piece === null ? '…' : writePart(piece))).join('')
}
