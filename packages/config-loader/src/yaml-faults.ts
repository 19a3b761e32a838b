import { type Alias, type Document, isAlias, isMap, isScalar, type Scalar, visit, type YAMLError } from 'yaml'

/** Files whose aliases make them this many times larger are taken for an attack, not for a configuration. */
export const MOST_UNFOLDING = 100

/** A fault of the YAML itself: where, what, and what usually causes it. */
export interface YamlFault {
  offset: number
  message: string
  hint?: string
}

/** The parser's words, with the place where the mistake was made and its usual cause. */
export function explainFault(fault: YAMLError, document: Document, text: string): YamlFault {
  const offset = fault.pos[0]
  const message = `Not valid YAML: ${fault.message}.`

  switch (fault.code) {
    case 'DUPLICATE_KEY':
      return {
        offset,
        message: `The key ${keyAt(text, offset)} is given twice.`,
        hint: 'Remove one of the two.',
      }
    case 'MULTIPLE_DOCS':
      return {
        offset,
        message: 'The file holds several YAML documents.',
        hint: 'Remove what follows this `---`.',
      }
    case 'TAG_RESOLVE_FAILED':
      return {
        offset,
        message: `${fault.message}.`,
        hint: 'Tags (!name) are not used here. Quote a text that begins with !.',
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

/** `*name` without `&name` before it. */
export function findDanglingAlias(document: Document): YamlFault | undefined {
  const alias = firstAlias(document, (candidate) => candidate.resolve(document) === undefined)
  if (alias === undefined) return undefined
  const message = `No anchor &${alias.source} stands before the alias *${alias.source}.`
  return { offset: alias.range?.[0] ?? 0, message, hint: 'Quote a text that begins with *.' }
}

/** What goes wrong only when aliases and merge keys are followed. */
export function explainUnfolding(error: Error, document: Document): YamlFault {
  if (error instanceof ReferenceError) {
    const offset = firstAlias(document, () => true)?.range?.[0] ?? 0
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

function firstMergeOffset(document: Document): number {
  let offset = 0
  visit(document, {
    Pair(_key, { key, value }) {
      if (!isScalar(key) || key.value !== '<<' || isMap(value) || isAlias(value)) return undefined
      offset = key.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

function firstAlias(document: Document, matches: (alias: Alias) => boolean): Alias | undefined {
  let found: Alias | undefined
  visit(document, {
    Alias(_key, alias) {
      if (!matches(alias)) return undefined
      found = alias
      return visit.BREAK
    },
  })
  return found
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

function keyAt(text: string, offset: number): string {
  const [key] = /^[^\s:]+/.exec(text.slice(offset, offset + 80)) ?? ['']
  return `"${key.replaceAll(/^["']|["']$/g, '')}"`
}
