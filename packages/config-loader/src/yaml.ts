import type { ValuePath } from '@delta/settings'
import {
  type Document,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap as isMapNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type ConfigProblem, excerptOf, isBelowSecret } from './problems.js'

/** A YAML file that was read: its value, and where in the file each part of it stands. */
export interface YamlFile {
  /** Absolute path. */
  path: string
  /** The path as it is shown to people. */
  name: string
  /** As it was read, without the edits. */
  text: string
  /** With the edits. */
  value: unknown
  document: Document
  /** Keys around the value where it was written, which begin the path of each message. */
  base?: ValuePath
  /** What `--set` replaced or removed in the document. */
  edits: Edit[]
  /** Where the value at `path` stands, or the innermost value around it that exists. */
  locate(path: ValuePath, at?: PlaceInValue): Place
  /** The place of the last `--set` of the value at `path`, of a part of it, or of a value around it. */
  setBy(path: ValuePath): Place | undefined
  /** The text of a scalar as it is written: `1.10` stays `1.10`. */
  written(path: ValuePath): string | undefined
}

/** One value that `--set` replaced, made or removed. */
interface Edit {
  place: Place
  /** The new value; for a removed one the mapping or the list that held it. */
  node: Node
  /** The key that was removed from the mapping; '' for a list. */
  removed?: string
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
    const edits: Edit[] = []
    const locate: YamlFile['locate'] = (path, at = {}) => {
      const steps = follow(document, path)
      const edit = edits.findLast((each) => explains(each, steps, path))
      return edit?.place ?? placeAt(offsetOf(steps, path, text, at))
    }
    const setBy: YamlFile['setBy'] = (path) => {
      const steps = follow(document, path)
      const below = nodesIn(steps.length > path.length ? steps.at(-1)?.node : undefined)
      return edits.findLast((each) => explains(each, steps, path) || below.has(each.node))?.place
    }
    const written: YamlFile['written'] = (path) => {
      const node = document.getIn(path, true)
      return isScalar(node) ? node.source : undefined
    }
    return { problems, file: { ...file, text, value, document, edits, locate, setBy, written } }
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

/** What to do about faults of which the parser's own words do not say it. */
const WAYS_OUT: { readonly [code in ErrorCode]?: string } = {
  BLOCK_AS_IMPLICIT_KEY: 'Quote a string that contains ": ". The keys of one mapping begin in one column.',
  BLOCK_IN_FLOW: 'Close the [ or { before it, or write the comma before it.',
  MISSING_CHAR:
    'Write ": " after a key, "- " before an element of a list, and a comma between those in brackets.',
  MULTILINE_IMPLICIT_KEY: 'Write ": " after a key.',
  TAG_RESOLVE_FAILED: 'Quote a string that begins with !.',
  UNEXPECTED_TOKEN: 'Quote the whole value. Without quotes it ends at a closing quote or bracket.',
}

/** The parser's complaints, one for each line: further ones of a line mostly follow from the first. */
function parserFaults(document: Document, text: string, lineOf: (offset: number) => number): Fault[] {
  const firsts = new Map<number, ParserFault>()
  const found: ParserFault[] = [...document.errors, ...document.warnings]
  for (const fault of found.toSorted((one, other) => one.pos[0] - other.pos[0])) {
    const line = lineOf(fault.pos[0])
    const isConsequence = firsts.has(line) || (firsts.size > 0 && fault.message.includes('in YAML stream'))
    if (fault.code !== 'BAD_ALIAS' && !isConsequence) firsts.set(line, fault) // aliases: see `ownFaults`
  }
  const unclosed = firsts.size > 0 ? unclosedString(document, text) : undefined
  return [...firsts.values()].map((fault): Fault => {
    const { code, message, pos } = fault
    const [offset] = pos
    if (code === 'MULTIPLE_DOCS')
      return { offset, message: 'The file holds several YAML documents.', leavesRest: true }
    if (code === 'TAG_RESOLVE_FAILED')
      return { offset, message: `${message}.`, hint: WAYS_OUT[code], leavesRest: true }
    if (code === 'MISSING_CHAR' && unclosed !== undefined)
      // the parser sees it at the end of the file
      return { offset: unclosed, message: 'Not valid YAML: this string is never closed.' }
    const long = found.find((other) => other.code === 'MULTILINE_IMPLICIT_KEY' && other.pos[0] === offset)
    if (code === 'BLOCK_AS_IMPLICIT_KEY' && long) {
      const start = text.lastIndexOf('\n', long.pos[1]) + 1 // the parser names the line that it continues
      const message = 'Not valid YAML: the line is indented too deep: it continues the string above.'
      return { offset: start + text.slice(start).search(/\S/), message, hint: WAYS_OUT[code] }
    }
    const hint = text.startsWith('${', offset - 1) ? WAYS_OUT.UNEXPECTED_TOKEN : WAYS_OUT[code]
    return { offset, message: `Not valid YAML: ${message}.`, hint }
  })
}

type ParserFault = Document['errors'][number] | Document['warnings'][number]

/** The offset of the last quoted string, if nothing closes it. */
function unclosedString(document: Document, text: string): number | undefined {
  let last: number | undefined
  visit(document, {
    Scalar(_key, { type, range }) {
      if (!range || (type !== 'QUOTE_DOUBLE' && type !== 'QUOTE_SINGLE')) return
      const [start, end] = range
      last = end > start + 1 && text[end - 1] === text[start] ? undefined : start
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

/** A value on the way to a place, and the key that holds it; of an element, the value itself. */
interface Step {
  key: Node | null
  node: Node | null
}

/** The values from the outermost one to the value at `path`, or to the innermost one that exists. */
function follow(document: Document, path: ValuePath): Step[] {
  const steps: Step[] = [{ key: document.contents, node: document.contents }]
  for (const segment of path) {
    const node = steps.at(-1)?.node ?? null
    const outer = isAlias(node) ? node.resolve(document) : node
    const pair = isMapNode(outer) ? pairOf(outer as YAMLMap, segment) : undefined
    const element = isSeq(outer) && typeof segment === 'number' ? (outer.items[segment] as Node) : undefined
    if (pair) steps.push({ key: pair.key, node: pair.value })
    else if (element) steps.push({ key: element, node: element })
    else break
  }
  return steps
}

type YamlPair = Pair<Node, Node | null>

function pairOf(map: YAMLMap, name: string | number): YamlPair | undefined {
  return (map.items as YamlPair[]).findLast(({ key }) => nameOf(key) === String(name))
}

/** Undefined for `<<`, which the parser keeps as a symbol. */
function nameOf(key: Node | string): string | undefined {
  const name: unknown = isScalar(key) ? key.value : key
  return typeof name === 'symbol' ? undefined : String(name)
}

/** True if an edit is why something at the path is wrong: the value lies in the new one, or lost a key. */
function explains({ node, removed }: Edit, steps: readonly Step[], path: ValuePath): boolean {
  const depth = steps.findIndex((step) => step.node === node)
  if (depth === -1 || removed === undefined) return depth !== -1
  return depth === path.length || path[depth] === removed
}

function nodesIn(node: Node | null | undefined): Set<Node> {
  const nodes = new Set<Node>()
  if (node) visit(node, { Node: (_key, inner) => void nodes.add(inner) })
  return nodes
}

/**
 * The offset in the file of the value at `path`.
 *
 * For a missing value it is the offset of the innermost thing that exists: the key that holds it, or the first key of the item.
 */
function offsetOf(steps: readonly Step[], path: ValuePath, text: string, at: PlaceInValue): number {
  const { key, node } = steps.at(-1) ?? { key: null, node: null }
  const isWritten = node?.range && node.range[1] > node.range[0] // an empty value after `key:` begins on the next line
  if (steps.length <= path.length || at.key === true || node === null || !isWritten) return startOf(key)
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

/**
 * Replaces the value at a path of the document, or removes it. Missing mappings on the way are made.
 *
 * @param place - What caused it: problems of the new value, and of what misses the removed one, are shown there.
 */
export function replaceIn(file: YamlFile, path: ValuePath, node: Node | undefined, place: Place): void {
  edit(file, (document) => {
    const [last, ...outer] = path.toReversed()
    if (last === undefined) document.contents = node ?? new YAMLMap()
    if (node) file.edits.push({ node, place })
    if (last === undefined) return
    if (!isCollection(document.contents)) document.contents = new YAMLMap()
    let parent = document.contents as YAMLMap | YAMLSeq
    for (const step of outer.reverse()) {
      const inner = isSeq(parent) ? parent.items[Number(step)] : pairOf(parent, step)?.value
      const next = isCollection(inner) ? (inner as YAMLMap | YAMLSeq) : new YAMLMap()
      if (next !== inner) {
        put(parent, step, next)
        file.edits.push({ node: next, place })
      }
      parent = next
    }
    put(parent, last, node)
    if (!node) file.edits.push({ node: parent, removed: isSeq(parent) ? '' : String(last), place })
  })
}

function put(parent: YAMLMap | YAMLSeq, step: string | number, node: Node | undefined): void {
  if (isSeq(parent)) {
    parent.items.splice(Number(step), 1, ...(node ? [node] : []))
    return
  }
  const pair = pairOf(parent, step)
  if (!node) parent.items = parent.items.filter((each) => each !== pair)
  else if (pair) pair.value = node
  else parent.items.push(new Pair(new Scalar(step), node))
}

/** Adds elements to the list at a path, which is made if there is none. */
export function addTo(file: YamlFile, path: ValuePath, items: readonly unknown[]): void {
  edit(file, (document) => {
    if (!isSeq(document.getIn(path))) document.setIn(path, document.createNode([]))
    for (const item of items) document.addIn(path, document.createNode(item))
  })
}

/** Renames a key; its value keeps its place. */
export function renameIn(file: YamlFile, path: ValuePath, name: string): void {
  edit(file, (document) => {
    const { key } = follow(document, path)[path.length] ?? {}
    if (isScalar(key)) key.value = name
  })
}

/** Changes the document of a file, and reads its value anew. */
function edit(file: YamlFile, change: (document: Document) => void): void {
  resolveAliases(file.document)
  change(file.document)
  file.value = file.document.toJS()
}

/** Replaces each alias by a copy of its value, so that a change in one place changes no other. */
export function resolveAliases(document: Document): void {
  visit(document, {
    Alias: (_key, alias) => copyOf(alias.resolve(document)),
    Map: (_key, map) => merge(map as YAMLMap, document),
  })
}

function copyOf(node: Node | undefined): Node {
  const copy = (node?.clone() ?? new Scalar(null)) as Node
  visit(copy, {
    Node(_key, inner) {
      if (!isAlias(inner)) delete inner.anchor
    },
  })
  return copy
}

/** Replaces each `<<` by the keys that it merges. */
function merge(map: YAMLMap, document: Document): void {
  const items = map.items as YamlPair[]
  const sources = items
    .filter(({ key }) => nameOf(key) === undefined)
    .flatMap(({ value }) => (isSeq(value) ? (value.items as Node[]) : [value]))
  map.items = items.filter(({ key }) => nameOf(key) !== undefined)
  for (const source of sources) {
    const merged = copyOf(isAlias(source) ? source.resolve(document) : (source ?? undefined))
    if (!isMapNode(merged)) continue
    merge(merged as YAMLMap, document)
    for (const pair of merged.items as YamlPair[])
      if (!pairOf(map, nameOf(pair.key) ?? '')) (map.items as YamlPair[]).push(pair)
  }
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
