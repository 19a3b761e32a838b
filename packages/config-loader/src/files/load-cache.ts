import { createHash } from 'node:crypto'
import { isMap } from '../is-map.js'
import { isSecretName } from '../mask-secrets.js'
import { requireThat } from '../usage.js'

/**
 * Keeps what was made of the tools of one agent, so that the next load need not make it again. It may be lost at any time.
 *
 * Whoever can write it decides what tools run: it belongs where only those can write who can change the program.
 */
export interface LoadCache {
  /** What the same version of this package, under the same version of node, wrote last; undefined if there is nothing. */
  read(): string | undefined
  /** Replaces it. What this throws, the load throws. */
  write(text: string): void
}

/** A file, what it says, and what was made of it: values that JSON can hold. Its comments stay where they are. */
interface MadeFile {
  digest: string
  value: unknown
  made: readonly object[]
}

/** The cache during one load. A file is known by its path and a digest of its text. */
export interface MadeFiles {
  /** What a file says that says what it said before. */
  find(path: string, text: string): { value: unknown } | undefined
  /** What it says otherwise. */
  remember(path: string, text: string, value: unknown): void
  /** What was made of a file that was found. */
  madeOf(path: string): readonly object[] | undefined
  add(path: string, made: readonly object[]): void
  /** Keeps what this load has used, if any of it is new. */
  save(): void
}

export function openCache(cache: LoadCache): MadeFiles {
  const sealed: unknown = cache.read()
  const isText = sealed === undefined || typeof sealed === 'string'
  requireThat(isText, 'What read() of the option cache returned', 'a text or undefined at once, no promise')
  const known = new Map(unseal(sealed))
  const used = new Map<string, MadeFile>()
  const isKnown = (path: string) => known.has(path) && known.get(path) === used.get(path)

  return {
    find(path, text) {
      const file = known.get(path)
      if (file === undefined || file.digest !== digestOf(text)) return undefined
      used.set(path, file)
      return file
    },
    remember(path, text, value) {
      used.set(path, { digest: digestOf(text), value, made: [] })
    },
    madeOf: (path) => (isKnown(path) ? known.get(path)?.made : undefined),
    add(path, made) {
      const file = used.get(path)
      if (file !== undefined) used.set(path, { ...file, made })
    },
    save() {
      const files = [...used].filter(([path, file]) => isKnown(path) || isWorthKeeping(file))
      if (!files.every(([path]) => isKnown(path))) cache.write(seal(files))
    },
  }
}

/** Beyond this, which only aliases reach, keeping costs more than making, and JSON may be longer than a text can be. */
const MOST_LETTERS = 32 * 1024 * 1024

function isWorthKeeping({ value, made }: MadeFile): boolean {
  return made.length > 0 && lettersIn(value) + lettersIn(made) <= MOST_LETTERS
}

/**
 * How large it is, about. Infinite is what JSON would not give back as it is, and what stands under a name that says it is
 * secret, which is kept nowhere.
 */
function lettersIn(value: unknown, name = ''): number {
  if (typeof value === 'boolean' || value === null) return 4
  if (typeof value === 'string') return isSecretName(name) ? Infinity : value.length
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) && !isSecretName(name) ? 8 : Infinity
  if (Array.isArray(value)) return sum(value.map((item) => lettersIn(item, name)))
  if (typeof value !== 'object') return Infinity
  return sum(Object.entries(value).map(([key, inner]) => key.length + lettersIn(inner, key)))
}

/** Of a list or map, with its brackets. */
const sum = (parts: readonly number[]) => parts.reduce((one, other) => one + other, 2)

/** With a checksum, for what was damaged would run as something else. */
function seal(files: readonly [string, MadeFile][]): string {
  const text = JSON.stringify(files)
  return `${digestOf(text)}\n${text}`
}

function unseal(sealed = ''): [string, MadeFile][] {
  const end = sealed.indexOf('\n')
  const text = sealed.slice(end + 1)
  return end >= 0 && sealed.slice(0, end) === digestOf(text) ? parseFiles(text) : []
}

/** A checksum says that a text is whole, not who wrote it: nothing of one that we did not write is used. */
function parseFiles(text: string): [string, MadeFile][] {
  try {
    const files: unknown = JSON.parse(text)
    return Array.isArray(files) && files.every(isEntry) ? files : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function isEntry(entry: unknown): entry is [string, MadeFile] {
  if (!Array.isArray(entry) || entry.length !== 2) return false
  const [path, file] = entry as [unknown, unknown]
  return typeof path === 'string' && isMap(file) && isMadeFile(file)
}

/** Of the tools themselves no more than where their parts begin: they are what they say, as in a program. */
function isMadeFile({ digest, made }: Record<string, unknown>): boolean {
  const isTool = (tool: unknown) => isMap(tool) && isMap(tool.tool) && isMap(tool.rest)
  return typeof digest === 'string' && Array.isArray(made) && made.every(isTool)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
