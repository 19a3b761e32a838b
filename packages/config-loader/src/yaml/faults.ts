import { type Document, type ErrorCode, isScalar, type Scalar, visit, type YAMLError } from 'yaml'
import type { YamlFault } from './fault.js'
import { structureFault } from './structure.js'

/** The parser's words, with the place where the mistake was made and its usual cause. */
export function explainFault(fault: YAMLError, document: Document, text: string): YamlFault {
  const offset = fault.pos[0]
  if (fault.message.includes('call stack'))
    return { offset, message: 'This is nested too deeply to be read.' }
  const message = `Not valid YAML: ${fault.message}.`
  const structure = structureFault(fault, text)
  if (structure !== undefined) return { offset, message, ...structure }

  switch (fault.code) {
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
    case 'UNEXPECTED_TOKEN':
      return { offset, message, ...goesOn(fault.message) }
    case 'MISSING_CHAR':
      return fault.message.startsWith('Missing closing')
        ? unclosedString(offset, document)
        : { offset, message }
    default:
      return { offset, message, ...(HINTS[fault.code] && { hint: HINTS[fault.code] }) }
  }
}

/** What usually causes a fault whose place and words say the rest. */
const HINTS: { readonly [code in ErrorCode]?: string } = {
  BLOCK_AS_IMPLICIT_KEY: 'A text that contains ": " must be quoted.',
  BAD_SCALAR_START: 'Quote the text.',
  BAD_INDENT: 'A bracket or a quote that is not closed on a line before leads here, too.',
}

/** A value that goes on where YAML has seen its end: commands often begin with a quote, or hold braces. */
function goesOn(complaint: string): Partial<YamlFault> {
  if (complaint.includes('in YAML stream')) return { followsFrom: 'file' }
  return complaint.includes('at node end') ? { hint: QUOTE_WHOLE, followsFrom: 'line' } : {}
}

const QUOTE_WHOLE =
  'Quote the whole value. Without, it ends where a quote or bracket at its beginning is closed, and inside of { } or [ ] where one is opened.'

/** The parser sees the missing quote at the end of the file; the person must look where the string begins. */
function unclosedString(offset: number, document: Document): YamlFault {
  let opened: Scalar | undefined
  visit(document, {
    Scalar(_key, scalar) {
      if (scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE') opened = scalar
    },
  })
  const start = isScalar(opened) ? opened.range?.[0] : undefined
  return {
    offset: start ?? offset,
    message: 'Not valid YAML: this string is never closed.',
    hint: 'Add the closing quote.',
  }
}

/** Every key that its map has already. The parser could tell, but compares each key with all before it. */
export function repeatedKeys(document: Document, lineOf: (offset: number) => number): YamlFault[] {
  const faults: YamlFault[] = []
  visit(document, {
    Map(_key, { items }) {
      const firsts = new Map<unknown, number>()
      for (const { key } of items) {
        if (!isScalar(key) || !key.range) continue
        const [offset] = key.range
        const first = firsts.get(key.value)
        if (first === undefined) firsts.set(key.value, offset)
        else faults.push(repeatedKey(String(key.value), offset, lineOf(first)))
      }
    },
  })
  return faults
}

function repeatedKey(name: string, offset: number, firstLine: number): YamlFault {
  const hint = `The other one is on line ${firstLine}. Remove one of the two.`
  return { offset, message: `The key "${name}" is given twice.`, hint, harmless: true, readsStructure: true }
}
