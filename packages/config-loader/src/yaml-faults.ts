import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Scalar,
  visit,
  type YAMLError,
} from 'yaml'

/** Files whose aliases make them this many times larger are taken for an attack, not for a configuration. */
export const MOST_UNFOLDING = 100

/** A fault of the YAML itself: where, what, and what usually causes it. */
export interface YamlFault {
  offset: number
  message: string
  hint?: string
  /** True if the rest of the file can be read all the same, so that its other mistakes are told at once. */
  harmless?: true
  /** Behind which other fault this one may be no mistake but a consequence: of the same line, or of the whole file. */
  followsFrom?: 'line' | 'file'
}

/** The parser's words, with the place where the mistake was made and its usual cause. */
export function explainFault(
  fault: YAMLError,
  document: Document,
  lineOf: (offset: number) => number,
): YamlFault {
  const offset = fault.pos[0]
  if (fault.message.includes('call stack'))
    return { offset, message: 'This is nested too deeply to be read.' }
  const message = `Not valid YAML: ${fault.message}.`

  switch (fault.code) {
    case 'DUPLICATE_KEY':
      return repeatedKey(offset, document, lineOf)
    case 'MULTIPLE_DOCS':
      return {
        offset,
        message: 'The file holds several YAML documents.',
        hint: 'One file holds one: remove what follows from here on.',
        harmless: true,
      }
    case 'TAG_RESOLVE_FAILED':
      return {
        offset,
        message: `${fault.message}.`,
        hint: 'Tags (!name) are not used here. Quote a text that begins with !.',
        harmless: true,
      }
    case 'TAB_AS_INDENT':
      return { offset, message, hint: 'Indent with spaces.' }
    case 'BLOCK_AS_IMPLICIT_KEY':
      return { offset, message, hint: 'A text that contains ": " must be quoted.' }
    case 'MULTILINE_IMPLICIT_KEY':
      return {
        offset,
        message,
        hint: 'A key has ": " behind it, and the keys of one map begin in one column.',
      }
    case 'BAD_SCALAR_START':
      return { offset, message, hint: 'Quote the text.' }
    case 'UNEXPECTED_TOKEN':
      return { offset, message, ...goesOn(fault.message) }
    case 'MISSING_CHAR':
      return fault.message.startsWith('Missing closing')
        ? unclosedString(offset, document)
        : { offset, message }
    case 'BAD_INDENT':
      return {
        offset,
        message,
        hint: 'A bracket or a quote that is not closed on a line before leads here, too.',
      }
    default:
      return { offset, message }
  }
}

/** A value that goes on where YAML has seen its end: commands often begin with a quote, or hold braces. */
function goesOn(complaint: string): Partial<YamlFault> {
  if (complaint.includes('in YAML stream')) return { followsFrom: 'file' }
  return complaint.includes('at node end') ? { hint: QUOTE_WHOLE, followsFrom: 'line' } : {}
}

const QUOTE_WHOLE =
  'Quote the whole value. Without, it ends where a quote or bracket at its beginning is closed, and inside of { } or [ ] where one is opened.'

/**
 * Aliases that cannot be followed: inside of their own value, and every `*name` without `&name` before it, mostly a pattern somebody forgot to quote. The latter is made the text that was
 * meant, so that the rest of the file can be read.
 */
export function mendAliases(document: Document): YamlFault[] {
  const faults: YamlFault[] = []
  const anchors = new Map<string, Node>()
  visit(document, {
    Value(_key, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias(_key, alias, ancestors) {
      const written = `*${alias.source}`
      const meant = anchors.get(alias.source)
      if (meant !== undefined && ancestors.includes(meant)) {
        const message = `The alias ${written} stands inside of what it repeats.`
        faults.push({ offset: alias.range?.[0] ?? 0, message, hint: 'Write the value out.' })
      }
      if (meant !== undefined) return undefined
      const message = `No anchor &${alias.source} stands before the alias ${written}.`
      const hint = 'Quote a text that begins with *.'
      faults.push({ offset: alias.range?.[0] ?? 0, message, hint, harmless: true })
      const text = new Scalar(written)
      if (alias.range) text.range = alias.range
      return text
    },
  })
  return faults
}

/** What goes wrong only when aliases and merge keys are followed. */
export function explainUnfolding(error: Error, document: Document): YamlFault {
  if (error instanceof ReferenceError) {
    const offset = firstAliasOffset(document)
    const message = `Not accepted: the aliases (*name) unfold this file to more than ${MOST_UNFOLDING} times its size.`
    return { offset, message, hint: 'Write the values out.' }
  }
  const message = `Not valid YAML: ${error.message}.`
  return {
    offset: firstMergeOffset(document),
    message,
    hint: 'Behind "<<:" stands a map, an alias of one, or a list of them.',
  }
}

/** Where that stands which is to be merged and is no map. */
function firstMergeOffset(document: Document): number {
  let offset = 0
  const followed = (node: unknown) => (isAlias(node) ? node.resolve(document) : node)
  visit(document, {
    Pair(_key, { key, value }) {
      if (!isScalar(key) || key.source !== '<<') return undefined
      const list = followed(value)
      const wrong = (isSeq(list) ? list.items : [value]).find((source) => !isMap(followed(source)))
      if (wrong === undefined) return undefined
      offset = (isNode(wrong) ? wrong.range?.[0] : undefined) ?? key.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

function firstAliasOffset(document: Document): number {
  let offset = 0
  visit(document, {
    Alias(_key, alias) {
      offset = alias.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

/** The parser sees the missing quote at the end of the file; the person must look where the string begins. */
function unclosedString(offset: number, document: Document): YamlFault {
  let opened: Scalar | undefined
  visit(document, {
    Scalar(_key, scalar) {
      if (scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE') opened = scalar
    },
  })
  const start = isScalar(opened) && !isAlias(opened) ? opened.range?.[0] : undefined
  return {
    offset: start ?? offset,
    message: 'Not valid YAML: this string is never closed.',
    hint: 'Add the closing quote.',
  }
}

/** The parser says only where the second one is. */
function repeatedKey(offset: number, document: Document, lineOf: (offset: number) => number): YamlFault {
  const { name = '', first = 0 } = keysOf(document).get(offset) ?? {}
  const message = `The key "${name}" is given twice.`
  const hint = `The other one is on line ${lineOf(first)}. Remove one of the two.`
  return { offset, message, hint, harmless: true }
}

type Keys = ReadonlyMap<number, { name: string; first: number }>

const known = new WeakMap<Document, Keys>()

/** Every key by its place, with that of the first of the same name in its map; looked up as often as keys are repeated. */
function keysOf(document: Document): Keys {
  const keys = known.get(document) ?? readKeys(document)
  known.set(document, keys)
  return keys
}

function readKeys(document: Document): Keys {
  const keys = new Map<number, { name: string; first: number }>()
  visit(document, {
    Map(_key, { items }) {
      const firsts = new Map<unknown, number>()
      for (const { key } of items) {
        if (!isScalar(key) || !key.range) continue
        const first = firsts.get(key.value) ?? key.range[0]
        firsts.set(key.value, first)
        keys.set(key.range[0], { name: String(key.value), first })
      }
    },
  })
  return keys
}
