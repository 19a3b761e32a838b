import type { CommandWord } from '../command-words.js'
import { findProgramText, type ProgramText } from '../program-text.js'
import { isShell } from '../programs.js'
import { compileShell } from '../shell/compile.js'
import { isParameter, type Placeholder } from '../template.js'
import type { LintFinding, LintRule } from './finding.js'
import { followValues } from './follows-values.js'
import { programChosenInShell } from './program-chosen.js'
import { runsShellArgument } from './runs-argument.js'
import type { ExecSource, ShellSource, Source } from './source.js'
import { shellSource } from './source.js'
import { valueInShellFormat } from './value-in-format.js'
import { valueInShellProgram } from './value-in-program.js'

/** The values that stand behind a script, by the names they have in it: `0`, `1`. */
type Positionals = ReadonlyMap<string, Placeholder>

/** `sh -c 'eval "$1"' _ ${value}` without a shell of ours: the text is fixed, and what it does with `$1` can be seen. */
export function scriptsInExec(source: ExecSource): LintFinding[] {
  return scriptsIn(source, source.words, findProgramText(source.words.map(({ shape }) => shape)))
}

/** The same in a script. */
export function scriptsInShell(source: ShellSource): LintFinding[] {
  return source.commands.flatMap(({ words, texts }) => scriptsIn(source, words, texts))
}

function scriptsIn(
  source: Source,
  words: readonly CommandWord[],
  texts: readonly ProgramText[],
): LintFinding[] {
  return texts.flatMap(([index, interpreter, isJoined]) => {
    const text = words[index]?.shape ?? ''
    if (!isShell(interpreter) || isJoined || text.includes('\0')) return []
    const positionals = positionalsBehind(source, words, index)
    return positionals.size === 0 ? [] : findingsIn(source, text, positionals, isFirstFixed(words, index))
  })
}

/** The first of them is `$0`. */
function positionalsBehind({ names }: Source, words: readonly CommandWord[], script: number): Positionals {
  const positionals = new Map<string, Placeholder>()
  for (const [index, { pieces }] of words.slice(script + 1).entries()) {
    const value = pieces.filter(isParameter).find(({ name }) => names.withCode.has(name))
    if (value) positionals.set(String(index), value)
  }
  return positionals
}

/** With a fixed first one, `"$@"` runs what is written. */
function isFirstFixed(words: readonly CommandWord[], script: number): boolean {
  return words[script + 2]?.shape.includes('\0') === false
}

function findingsIn(source: Source, text: string, positionals: Positionals, isFixed: boolean): LintFinding[] {
  const [value] = [...positionals.values()]
  const at = (rule: LintRule, _: number, message: string, hint: string) =>
    source.at(rule, value?.offset ?? 0, `In the script before it: ${message}`, hint)
  const script = shellSource(text, compileShell(text).scan, [], at)
  const followed = followValues(script, [...positionals.keys(), '@', '*'])
  if (followed === undefined) return []
  const rules = isFixed ? INNER_RULES : [programChosenInShell, ...INNER_RULES]
  const [first] = [
    ...followed.refused.map(({ offset, message, hint }) => at('runs-variable', offset, message, hint)),
    ...rules.flatMap((rule) => rule(followed.source)),
  ]
  return first === undefined ? [] : [first]
}

const INNER_RULES = [valueInShellProgram, valueInShellFormat, runsShellArgument, scriptsInShell]
