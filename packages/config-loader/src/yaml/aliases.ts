import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, Scalar, visit } from 'yaml'
import type { YamlFault } from './fault.js'

/** Files whose aliases make them this many times larger are taken for an attack, not for a configuration. */
export const MOST_UNFOLDING = 100

/**
 * Aliases that cannot be followed: inside of their own value, and every `*name` without `&name` before it, mostly a
 * pattern somebody forgot to quote. The latter is made the text that was meant, so that the rest of the file can be read.
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
