import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import type { ValuePath } from '../path.js'

/** Which part of a value is meant: its key, or a position inside its text (1-based). */
export interface PlaceInValue {
  key?: boolean
  line?: number
  column?: number
}

/**
 * The offset in the file of the value at `path`.
 *
 * Where the path ends before it is walked (the value is missing), the place is that of the innermost thing
 * that is there: the key that holds it, or the first key of the item.
 */
export function offsetOf(document: Document, text: string, path: ValuePath, at: PlaceInValue): number {
  let node: Node | null = document.contents as Node | null
  let keyOffset = startOf(node)

  for (const segment of path) {
    const step = stepInto(resolve(node, document), segment)
    if (step === undefined) return keyOffset
    keyOffset = step.keyOffset ?? startOf(step.node)
    node = step.node
  }
  if (at.key === true || node === null || !hasText(node)) return keyOffset
  return isScalar(node) ? offsetInScalar(node, text, at) : startOf(node)
}

/** The text of a single value as it is written: `1.10` stays `1.10`. Undefined for lists, maps and what is missing. */
export function writtenText(document: Document, path: ValuePath): string | undefined {
  let node: Node | null = document.contents as Node | null
  for (const segment of path) node = stepInto(resolve(node, document), segment)?.node ?? null
  return isScalar(node) ? node.source : undefined
}

interface Step {
  node: Node | null
  keyOffset?: number
}

function stepInto(node: Node | null, segment: string | number): Step | undefined {
  if (isSeq(node) && typeof segment === 'number') {
    const item = node.items[segment]
    return item === undefined ? undefined : { node: item as Node }
  }
  if (!isMap(node)) return undefined
  const pair = pairsOf(node).get(String(segment))
  return pair === undefined ? undefined : { node: pair.value, keyOffset: startOf(pair.key) }
}

const known = new WeakMap<YAMLMap, Map<string, Pair<Node, Node>>>()

/** By key, the last one counting; looked up as often as a file has mistakes. */
function pairsOf(map: YAMLMap): Map<string, Pair<Node, Node>> {
  const pairs = known.get(map) ?? new Map<string, Pair<Node, Node>>()
  if (!known.has(map)) {
    for (const pair of map.items as Pair<Node, Node>[])
      if (isScalar(pair.key)) pairs.set(String(pair.key.value), pair)
    known.set(map, pairs)
  }
  return pairs
}

function resolve(node: Node | null, document: Document): Node | null {
  return isAlias(node) ? ((node.resolve(document) as Node | undefined) ?? node) : node
}

function startOf(node: Node | null): number {
  return node?.range?.[0] ?? 0
}

/** False for the value of `key:` with nothing after it, whose own position would be the start of the next line. */
function hasText(node: Node): boolean {
  return node.range !== null && node.range !== undefined && node.range[1] > node.range[0]
}

/** Follows a position inside the string back into the file, as far as quoting and folding leave the text as it is. */
function offsetInScalar(node: Scalar, text: string, { line = 1, column = 1 }: PlaceInValue): number {
  const start = startOf(node)
  if (typeof node.value !== 'string') return start
  if (node.type === 'BLOCK_LITERAL') return offsetInBlock(text, start, line, column)

  const opening = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? 1 : 0
  const before = node.value.slice(0, column - 1)
  const unchanged = line === 1 && text.startsWith(before, start + opening)
  return unchanged ? start + (column === 1 ? 0 : opening) + before.length : start
}

/** In `key: |` the text begins on the next line, and its indentation is that of its first line that is not empty. */
function offsetInBlock(text: string, start: number, line: number, column: number): number {
  const lines = text.slice(start).split('\n')
  const first = lines.slice(1).find((candidate) => candidate.trim() !== '') ?? ''
  const indentation = first.length - first.trimStart().length
  const skipped = lines.slice(0, line).reduce((total, candidate) => total + candidate.length + 1, 0)
  return start + skipped + indentation + column - 1
}
