import type { ExpandedTool } from '@delta/tool-expander'

/** A command that searches the whole workspace, and what keeps it out of `.delta`. */
export interface FindsJournal {
  message: string
  hint: string
  template: string
  line: number
  column: number
}

/** A command of a template: its words, and where it begins. */
interface Piece {
  program: string
  words: string[]
  offset: number
}

const WORD_OR_END = /(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\{\w+\}|[^\s'"\\|;&()])+|[|;&()\n]/g
/** The usual ways to write the workspace, or a directory named by the model. */
const WORKSPACE = /^["']?(?:\.\/?|\$PWD|\$\{(?!AGENT_HOME\})\w+\})["']?$/

/**
 * The first command of a tool that also searches the journal of its own run, which is in the workspace: almost everybody's
 * first search tool finds its own call there.
 */
export function findsJournal({ __meta: origin }: ExpandedTool): FindsJournal | undefined {
  if (origin === undefined || origin.template.includes('.delta')) return undefined
  const { template } = origin
  for (const { program, words, offset } of piecesOf(template)) {
    const hint = WALKERS[program]?.(words)
    if (hint === undefined) continue
    const before = template.slice(0, offset).split('\n')
    const message = `${program} also searches .delta, which holds the journal of the run.`
    return { message, hint, template, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
  }
  return undefined
}

function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let current: Piece | undefined
  for (const { 0: word, index: offset } of template.matchAll(WORD_OR_END)) {
    if (/^[|;&()\n]$/.test(word)) current = undefined
    else if (current) current.words.push(word)
    else {
      current = { program: word, words: [], offset }
      pieces.push(current)
    }
  }
  return pieces
}

/** The advice, or undefined if these words do not lead into `.delta`. */
const WALKERS: Readonly<Record<string, (words: readonly string[]) => string | undefined>> = {
  grep: byGrep,
  egrep: byGrep,
  fgrep: byGrep,
  find: byFind,
  rg: byRipgrep,
}

function byGrep(words: readonly string[]): string | undefined {
  const isRecursive = words.some((word) =>
    /^(?:-[a-zA-Z]*[rR][a-zA-Z]*|--(?:dereference-)?recursive)$/.test(word),
  )
  if (!isRecursive) return undefined
  const operands = operandsOf(words, /^-[a-zA-Z]*[efmABC]$/)
  const hasPattern = words.some((word) => /^-[a-zA-Z]*[ef]$|^--(?:regexp|file)\b/.test(word))
  return reachesWorkspace(hasPattern ? operands : operands.slice(1)) ? 'Add --exclude-dir=.delta.' : undefined
}

function byFind(words: readonly string[]): string | undefined {
  const end = words.findIndex((word) => /^[-!(\\]/.test(word))
  const directories = end < 0 ? words : words.slice(0, end)
  if (words.includes('-maxdepth') || !reachesWorkspace(directories)) return undefined
  return "Add -not -path '*/.delta/*'."
}

function byRipgrep(words: readonly string[]): string | undefined {
  const seesHidden = words.some((word) => /^(?:--hidden|-\.|-[a-zA-Z]*uu[a-zA-Z]*)$/.test(word))
  return seesHidden && reachesWorkspace(operandsOf(words, /^-[a-zA-Z]*[efgmtABC]$/).slice(1))
    ? "Add -g '!.delta'."
    : undefined
}

/** The words that are neither options nor values of options. */
function operandsOf(words: readonly string[], takesValue: RegExp): string[] {
  const end = words.indexOf('--')
  return words.filter((word, index) => {
    if (end >= 0 && index > end) return true
    return !word.startsWith('-') && !takesValue.test(words[index - 1] ?? '')
  })
}

/** Without a directory, these programs search the current one. */
function reachesWorkspace(directories: readonly string[]): boolean {
  return directories.length === 0 || directories.some((directory) => WORKSPACE.test(directory))
}
