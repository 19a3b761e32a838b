import { replaceFile } from '@delta/durable'
import { isName, type Secrets } from '../state.js'
import { type DriverCall, launchEnvironment, type Report } from './driver.js'

/** One entry of what a shell lists of itself (`declare -p`, `export -p`, `set`, `alias`). */
export interface Listed {
  /** The whole entry, without its final newline, as the shell can read it back. */
  text: string
  /** The letters of `declare -ix NAME`; empty for the other listings. */
  flags: string
  name: string
  /** Undefined when the variable has no value. Of an array, its elements within parentheses. */
  value: string | undefined
}

const HEAD = /(?:declare -([A-Za-z-]+) |export |alias (?:-- )?)?([^\s='"]+)(=?)/y

/**
 * Parses a listing into names and values. All strings are latin1, one character a byte, so that
 * values which are not valid UTF-8 are unchanged.
 *
 * @throws {SyntaxError} The listing is not one that a shell prints.
 */
export function parseListing(listing: string): Listed[] {
  const entries: Listed[] = []
  for (let start = 0; start < listing.length; ) {
    HEAD.lastIndex = start
    const head = HEAD.exec(listing)
    if (!head) throw new SyntaxError(`unexpected ${JSON.stringify(listing.slice(start, start + 40))}`)
    const [, flags = '', name = '', equals] = head
    const { end, value } = equals
      ? readWord(listing, HEAD.lastIndex)
      : { end: HEAD.lastIndex, value: undefined }
    if (listing[end] !== '\n') throw new SyntaxError(`${name}: no end of line after its value`)
    entries.push({ text: listing.slice(start, end), flags, name, value })
    start = end + 1
  }
  return entries
}

/** Reads one word, quoted in any of the shell's ways, up to the newline that ends it. */
function readWord(text: string, start: number): { value: string; end: number } {
  let value = ''
  let position = start
  const take = (open: number, close: string, escapes: boolean): string => {
    const end = endOfQuote(text, open, close, escapes)
    position = end + 1
    return text.slice(open, end)
  }
  while (position < text.length && text[position] !== '\n') {
    const character = text[position]
    if (character === "'") value += take(position + 1, "'", false)
    else if (character === '"') value += decodeDouble(take(position + 1, '"', true))
    else if (character === '$' && text[position + 1] === "'")
      value += decodeAnsi(take(position + 2, "'", true))
    else if (character === '\\') {
      value += text[position + 1] ?? ''
      position += 2
    } else {
      value += character
      position++
    }
  }
  return { value, end: position }
}

function endOfQuote(text: string, start: number, close: string, escapes: boolean): number {
  let end = start
  while (end < text.length && text[end] !== close) end += escapes && text[end] === '\\' ? 2 : 1
  if (end >= text.length) throw new SyntaxError('a quoted value without its end')
  return end
}

/** bash before 4.4 also puts its own mark, byte 1, before bytes 1 and 127; later ones never print these here. */
function decodeDouble(text: string): string {
  return text.replaceAll(/\\([$`"\\])|\x01([\x01\x7f])/g, '$1$2')
}

const LETTERS: Record<string, string> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function decodeAnsi(text: string): string {
  return text.replaceAll(/\\(?:([0-7]{1,3})|([\s\S]))/g, (_all, octal?: string, letter = '') =>
    octal === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

/** Never kept: our own variables, and those that no shell takes from its environment. */
const NEVER_KEPT = /^(?:__delta_.*|_|BASHOPTS|EUID|PPID|SHELLOPTS|UID)$/
/** Variables that shells make themselves: kept only if the user exported them. */
const MADE_ANEW =
  /^(?:BASH(?:PID|_.*)?|COMP_WORDBREAKS|DIRSTACK|EPOCH(?:REALTIME|SECONDS)|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OPTIND|OSTYPE|PIPESTATUS|RANDOM|SECONDS|SRANDOM)$/
const DEFAULTS: Record<string, string> = { IFS: ' \t\n', PS1: '# ', PS2: '> ', PS4: '+ ' }

/** The variables in a listing that a session keeps, and the names of those it withholds because they hold a secret. */
export function chooseVariables(
  entries: readonly Listed[],
  { secrets, isExported }: { secrets: Secrets; isExported: (entry: Listed) => boolean },
): { kept: Listed[]; withheld: string[] } {
  const known = entries.filter((entry) => {
    const { name, value } = entry
    if (NEVER_KEPT.test(name) || secrets.names.has(name)) return false
    return isExported(entry) || (!MADE_ANEW.test(name) && (value === undefined || DEFAULTS[name] !== value))
  })
  const isSecret = ({ value = '' }: Listed) => secrets.isIn(value)
  return {
    kept: known.filter((entry) => !isSecret(entry)),
    withheld: known.filter(isSecret).map(({ name }) => name),
  }
}

/** What a shell wrote when it ended, as latin1. */
interface ShellEnd {
  /** The environment. */
  exported: readonly Listed[]
  withheld: string[]
  /** What `pwd` printed, and what `jobs` did. */
  cwd: string
  jobs: string
  /** Lines that restore the rest, in their order. */
  script: readonly string[]
}

export function shellReport({ exported, withheld, cwd, jobs, script }: ShellEnd): Report {
  const directory = Buffer.from(cwd.replace(/\n$/, ''), 'latin1')
  const workDirectory = directory.toString('utf8')
  // Node.js can start a process only in a directory whose name is UTF-8; the shell changes into any other by itself.
  const isText = Buffer.from(workDirectory).equals(directory)
  const lines = [isText ? '' : `cd ${quote(directory.toString('latin1'))}`, ...script].filter(Boolean)
  return {
    variables: new Map(
      exported.flatMap(({ name, value }) =>
        value === undefined ? [] : [[name, Buffer.from(value, 'latin1')] as const],
      ),
    ),
    withheld,
    workDirectory,
    jobs: Buffer.from(jobs, 'latin1').toString('utf8'),
    notKept: [],
    own: Buffer.from(`${lines.join('\n')}\n`, 'latin1'),
  }
}

/** A shell sets IFS by itself, so a session in which it was unset must unset it again. */
export function unsetLines(entries: readonly Listed[]): string[] {
  return entries.some(({ name }) => name === 'IFS') ? [] : ['unset IFS']
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** The environment a shell is started with. Variables that it must set for itself go to a script, `<work>.variables`. */
export function shellEnvironment(call: DriverCall): Record<string, string> {
  const { env, late } = launchEnvironment(call)
  const lines = [...late]
    .filter(([name]) => isName(name))
    .map(([name, value]) => `export ${name}=${quote(value.toString('latin1'))}\n`)
  const script = Buffer.from(lines.join(''), 'latin1')
  if (script.length > 0) replaceFile(`${call.work}.variables`, script, { sync: false })
  return env
}

/**
 * Quotes bytes, as latin1, as one word of a shell. bash reads double quotes in linear time; some megabytes of apostrophes in
 * any other quotes take it minutes.
 */
export function quote(bytes: string): string {
  return `"${bytes.replaceAll(/[\\"$`]/g, '\\$&')}"`
}
