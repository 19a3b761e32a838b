import type { ValuePath } from '@delta/settings'
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap as isMapNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
} from 'yaml'
import { type ConfigProblem, excerptOf, isBelowSecret } from './problems.js'

/** A YAML file that was read: its value, and where in the file each part of it stands. */
export interface YamlFile {
  /** Absolute path. */
  path: string
  /** The path as it is shown to people. */
  name: string
  text: string
  value: unknown
  /** Where the value at `path` stands, or the innermost value around it that exists. */
  locate(path: ValuePath, at?: PlaceInValue): Place
  /** The place of the last `--set` of the value at `path`, of a part of it, or of a value around it. */
  setBy?(path: ValuePath): Place | undefined
  /** The text of a scalar as it is written: `1.10` stays `1.10`. */
  written(path: ValuePath): string | undefined
}

/** A place in a file, with its line; a value that was set with `--set` has no line. */
export type Place = Pick<ConfigProblem, 'file' | 'line' | 'column' | 'excerpt'>

/** The part of a value to locate: its key, or a position inside its text (1-based). */
export interface PlaceInValue {
  key?: boolean | undefined
  line?: number | undefined
  column?: number | undefined
}

interface ParsedYaml {
  /** What is wrong with the YAML itself. */
  problems: ConfigProblem[]
  /** Also present if the problems leave the rest of the file readable, as a repeated key does. */
  file?: YamlFile
}

/** A file that its aliases make more than this many times larger is refused as an attack. */
const MAX_ALIAS_COUNT = 100

/** `uniqueKeys` would compare each key with all before it, so `ownFaults` does it; a date or a set is not a value of JSON. */
const OPTIONS = {
  prettyErrors: false,
  merge: true,
  logLevel: 'error',
  uniqueKeys: false,
  resolveKnownTags: false,
} as const

/**
 * Parses one YAML document and keeps the positions of everything in it.
 *
 * Refuses invalid YAML, repeated keys, several documents, unknown tags, aliases without an anchor, and documents that aliases
 * make much larger. `<<` merges, as in most programs that read YAML. An empty file has the value null.
 */
export function parseYaml(text: string, file: { path: string; name: string }): ParsedYaml {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter })
  const lineOf = (offset: number) => lineCounter.linePos(offset).line
  const end = text.trimEnd().length // a fault at the end is shown after the last line with text
  const placeAt = (offset: number) => placeInText(text, lineCounter, file.name, Math.min(offset, end))
  const problemOf = ({ offset, message, hint }: Fault): ConfigProblem => ({
    ...placeAt(offset),
    message,
    ...(hint !== undefined && { hint }),
  })

  const faults = [...parserFaults(document, text, lineOf), ...ownFaults(document, lineOf)]
  const problems = faults.map(problemOf)
  if (!faults.every(({ leavesRest }) => leavesRest)) return { problems }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT })
    const locate: YamlFile['locate'] = (path, at = {}) => placeAt(offsetOf(document, text, path, at))
    const written: YamlFile['written'] = (path) => {
      const node = document.getIn(path, true)
      return isScalar(node) ? node.source : undefined
    }
    return { problems, file: { ...file, text, value, locate, written } }
  } catch (error) {
    const offset = Math.max(0, text.search(/<<:|\*\w/)) // only aliases and merges are refused this late
    const message = `Not valid YAML: ${(error as Error).message}.`
    const hint = `"<<:" takes a mapping, an alias of one, or a list of them. Aliases may make a file ${MAX_ALIAS_COUNT} times as large.`
    return { problems: [...problems, problemOf({ offset, message, hint })] }
  }
}

/** The `version` of a file. A number is kept as it is written, `1.10` for example. */
export function writtenVersion(version: string | number, file: YamlFile): string {
  return typeof version === 'string' ? version : (file.written(['version']) ?? String(version))
}

function placeInText(text: string, lineCounter: LineCounter, file: string, offset: number): Place {
  const { line, col } = lineCounter.linePos(offset)
  const start = lineCounter.lineStarts[line - 1] ?? 0
  const shown = text.slice(start, lineCounter.lineStarts[line] ?? text.length)
  const isShown = shown.trim() !== '' && !isBelowSecret(text.slice(0, start))
  return { file, line, column: col, ...(isShown && { excerpt: excerptOf(shown, col) }) }
}

/** A fault of the YAML itself: where, what, and the way out. */
interface Fault {
  offset: number
  message: string
  hint?: string | undefined
  /** The rest of the file can be read, so that its other mistakes are reported at once. */
  leavesRest?: boolean
}

/** What to do about each fault. */
const WAYS_OUT: { readonly [code in ErrorCode]?: string } = {
  BAD_INDENT:
    'The keys of one mapping begin in one column, and so do the elements of one list. Look also for an open bracket or quote on a line before.',
  BAD_SCALAR_START: 'Quote the string.',
  BLOCK_AS_IMPLICIT_KEY: 'Quote a string that contains ": ". The keys of one mapping begin in one column.',
  BLOCK_IN_FLOW: 'A [ or { is not closed on a line before.',
  MISSING_CHAR: 'Write ": " after a key and "- " before an element of a list. Close quotes and brackets.',
  MULTILINE_IMPLICIT_KEY: 'Write ": " after a key. The keys of one mapping begin in one column.',
  MULTIPLE_DOCS: 'A file holds one document: remove everything from here on.',
  RESOURCE_EXHAUSTION: 'It is nested too deeply.',
  TAB_AS_INDENT: 'Indent with spaces.',
  TAG_RESOLVE_FAILED: 'Tags (!name) are not used here. Quote a string that begins with !.',
  UNEXPECTED_TOKEN: 'Quote the whole value. Without quotes it ends at a closing quote or bracket.',
}

/** The parser's complaints, one for each line: further ones of a line mostly follow from the first. */
function parserFaults(document: Document, text: string, lineOf: (offset: number) => number): Fault[] {
  const lines = new Set<number>()
  const found = [...document.errors, ...document.warnings]
    .filter(({ code }) => code !== 'BAD_ALIAS') // see `ownFaults`
    .sort((one, other) => one.pos[0] - other.pos[0])
  return found.flatMap(({ code, message: said, pos: [offset] }, index): Fault[] => {
    let message: string = said
    const isConsequence = index > 0 && (lines.has(lineOf(offset)) || message.includes('in YAML stream'))
    lines.add(lineOf(offset))
    if (isConsequence) return []
    const leavesRest = code === 'MULTIPLE_DOCS' || code === 'TAG_RESOLVE_FAILED'
    if (code === 'MULTIPLE_DOCS') message = 'The file holds several YAML documents'
    else if (!leavesRest) message = `Not valid YAML: ${message}`
    const long = found.find((other) => other.code === 'MULTILINE_IMPLICIT_KEY' && other.pos[0] === offset)
    if (code === 'BLOCK_AS_IMPLICIT_KEY' && long) {
      const start = text.lastIndexOf('\n', long.pos[1]) + 1 // the parser names the line that it continues
      const message = 'Not valid YAML: the line is indented too deep: it continues the string above.'
      return [{ offset: start + text.slice(start).search(/\S/), message, hint: WAYS_OUT[code] }]
    }
    if (!message.includes('Missing closing')) {
      const hint = text.startsWith('${', offset - 1) ? WAYS_OUT.UNEXPECTED_TOKEN : WAYS_OUT[code]
      return [{ offset, message: `${message}.`, hint, leavesRest }]
    }
    const start = lastQuoted(document)?.range?.[0] ?? offset // the parser sees it at the end of the file
    return [
      {
        offset: start,
        message: 'Not valid YAML: this string is never closed.',
        hint: 'Add the closing quote.',
      },
    ]
  })
}

function lastQuoted(document: Document): Scalar | undefined {
  let last: Scalar | undefined
  visit(document, {
    Scalar(_key, scalar) {
      if (scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE') last = scalar
    },
  })
  return last
}

/** What the parser accepts and we do not: repeated keys, and aliases without an anchor. */
function ownFaults(document: Document, lineOf: (offset: number) => number): Fault[] {
  const faults: Fault[] = []
  const anchors = new Set<string>()
  visit(document, {
    Node(_key, node, around) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
        if (isMapNode(node)) faults.push(...repeatedKeys(node.items as Pair[], lineOf))
        return undefined
      }
      const isInside = around.some(
        (outer) => !isAlias(outer) && 'anchor' in outer && outer.anchor === node.source,
      )
      if (anchors.has(node.source) && !isInside) return undefined
      const message = `No anchor &${node.source} stands before the alias *${node.source}.`
      faults.push({
        offset: startOf(node),
        message,
        hint: 'Quote a string that begins with *.',
        leavesRest: true,
      })
      const replacement = new Scalar(`*${node.source}`) // so that the rest of the file can be read
      if (node.range) replacement.range = node.range
      return replacement
    },
  })
  return faults
}

function repeatedKeys(items: readonly Pair[], lineOf: (offset: number) => number): Fault[] {
  const firsts = new Map<unknown, number>()
  return items.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    const offset = startOf(key)
    const first = firsts.get(key.value)
    if (first === undefined) firsts.set(key.value, offset)
    if (first === undefined) return []
    const hint = `The other one is on line ${lineOf(first)}. Remove one of the two.`
    return [{ offset, message: `The key "${key.value}" is given twice.`, hint, leavesRest: true }]
  })
}

/**
 * The offset in the file of the value at `path`.
 *
 * For a missing value it is the offset of the innermost thing that exists: the key that holds it, or the first key of the item.
 */
function offsetOf(document: Document, text: string, path: ValuePath, at: PlaceInValue): number {
  let node = document.contents as Node | null
  let keyOffset = startOf(node)
  for (const segment of path) {
    const outer = isAlias(node) ? node.resolve(document) : node
    if (isSeq(outer) && typeof segment === 'number' && segment < outer.items.length) {
      node = outer.items[segment] as Node
      keyOffset = startOf(node)
    } else {
      const pairs = isMapNode(outer) ? (outer.items as Pair<Node, Node | null>[]) : []
      const pair = pairs.findLast(({ key }) => isScalar(key) && String(key.value) === String(segment))
      if (pair === undefined) return keyOffset
      node = pair.value
      keyOffset = startOf(pair.key)
    }
  }
  const isWritten = node?.range && node.range[1] > node.range[0] // an empty value after `key:` begins on the next line
  if (at.key === true || node === null || !isWritten) return keyOffset
  return isScalar(node) ? offsetInScalar(node, text, at) : startOf(node)
}

function startOf(node: Node | null): number {
  return node?.range?.[0] ?? 0
}

/** The offset in the file of a position inside a string; of the string's start if escapes or folding move the text. */
function offsetInScalar(node: Scalar, text: string, { line = 1, column = 1 }: PlaceInValue): number {
  const start = startOf(node)
  if (typeof node.value !== 'string') return start
  if (node.type === 'BLOCK_LITERAL') return offsetInBlock(text, start, line, column)

  const opening = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? 1 : 0
  const before = node.value.slice(0, column - 1)
  const unchanged = line === 1 && text.startsWith(before, start + opening)
  return unchanged ? start + (column === 1 ? 0 : opening) + before.length : start
}

/** In `key: |` the text begins on the next line, indented like its first line that is not empty. */
function offsetInBlock(text: string, start: number, line: number, column: number): number {
  const lines = text.slice(start).split('\n')
  const first = lines.slice(1).find((candidate) => candidate.trim() !== '') ?? ''
  const indentation = first.length - first.trimStart().length
  const skipped = lines.slice(0, line).reduce((total, candidate) => total + candidate.length + 1, 0)
  return start + skipped + indentation + column - 1
}

/** True for a mapping. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses `parameters[1].inject_as`, the spelling of paths in the problems of other packages. */
export function parsePath(text: string): ValuePath {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key = '']) =>
    index === undefined ? key : Number(index),
  )
}
