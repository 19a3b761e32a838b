import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** Nothing in them is an input of an agent's, and there may be very much of it. */
const NEVER_ENTERED = new Set(['.git', 'node_modules', '.delta'])

/**
 * The files that match any of the patterns, sorted. `*` and `?` stay within a name, `**` goes through directories,
 * `{a,b}` means either, `[abc]` one of. Patterns are relative to `directory`; links to directories are not followed.
 */
export async function matchingFiles(patterns: readonly string[], directory: string): Promise<string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    const absolute = resolve(directory, pattern)
    const fixed = absolute.slice(0, absolute.search(/[*?{[]|$/)).replace(/[^/]*$/, '')
    const expression = toExpression(absolute)
    for await (const file of filesUnder(fixed === '' ? '/' : fixed))
      if (expression.test(file)) found.add(file)
  }
  return [...found].sort()
}

/** Why a pattern is none; undefined if it is one. */
export function globProblem(pattern: string): string | undefined {
  try {
    toExpression(pattern)
    return undefined
  } catch {
    return `"${pattern}" is not a pattern: check what is in its brackets`
  }
}

async function* filesUnder(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(noneIfMissing)
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (!entry.isDirectory()) yield path
    else if (!NEVER_ENTERED.has(entry.name)) yield* filesUnder(path)
  }
}

/** Gone meanwhile, not ours, or so deep that no program can name it. */
const CANNOT_BE_ENTERED = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG'])

function noneIfMissing(error: NodeJS.ErrnoException) {
  if (CANNOT_BE_ENTERED.has(error.code ?? '')) return []
  throw error
}

function toExpression(pattern: string): RegExp {
  return new RegExp(`^${toSource(pattern)}$`)
}

function toSource(pattern: string): string {
  return pattern.replaceAll(/\*\*\/|\*\*|[*?]|\{[^{}]*\}|\[[^\]]*\]|[.+^$()|{}[\]\\]/g, (token) => {
    if (token.startsWith('[') && token.endsWith(']')) return token.replace(/^\[!/, '[^')
    if (token.length > 2 && token.startsWith('{'))
      return `(?:${token.slice(1, -1).split(',').map(toSource).join('|')})`
    return EXPRESSIONS[token] ?? `\\${token}`
  })
}

const EXPRESSIONS: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' }
