import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import picomatch from 'picomatch'

/** Nothing in them is an input of an agent's, and there may be very much of it. */
const NEVER_ENTERED = new Set(['.git', 'node_modules', '.delta'])

/**
 * The files that match any of the patterns, sorted. `*` and `?` stay within a name, `**` goes through directories,
 * `{a,b}` means either, `[abc]` one of. Patterns are relative to `directory`; links to directories are not followed.
 */
export async function matchingFiles(patterns: readonly string[], directory: string): Promise<string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    const written = relative(directory, resolve(directory, pattern)) // the directory's own name is no pattern
    const { base, isGlob } = picomatch.scan(written)
    const expression = toExpression(written)
    for await (const file of filesUnder(resolve(directory, isGlob ? base : dirname(written))))
      if (expression.test(relative(directory, file))) found.add(file)
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

/** `debug`: what is in brackets may be no range, and that is thrown. */
function toExpression(pattern: string): RegExp {
  return picomatch.makeRe(pattern, { dot: true, posix: true, debug: true })
}
