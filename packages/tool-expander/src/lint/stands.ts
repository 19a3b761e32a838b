import { type Held, OWN } from './held-values.js'
import type { Stand } from './read-as-values.js'
import type { ShellSource } from './source.js'

const COMPUTED =
  /\$?\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|\$\[[^\]]*\]|\$\{\w+\[[^\]]*\]|\$\{\w+:(?![-=+?])[^}]*/g

/** Every place of a script where a variable that holds a value is expanded or computed. */
export function standsOf({ scan, template }: ShellSource, held: Held): Stand[] {
  const holds = (name: string, offset: number) => holdsValue(held, name, offset)
  const stands = new Map<number, Stand>()
  const hasTexts = /\b(?:declare|typeset|local)\s+-\w*A/.test(template)
  const expanded = new Set(scan.expanded.map(({ offset }) => offset))
  for (const { name, offset } of scan.expanded) {
    const bare = name.replace(/^\$(?=.)/, '')
    const written = name.startsWith('$') ? name : bracedAt(template, offset)
    if (written && holds(bare, offset)) stands.set(offset, { offset, length: written.length, written })
  }
  for (const { 0: text, index } of template.matchAll(COMPUTED)) {
    // An associative array has texts for subscripts.
    if (hasTexts && /^\$\{\w+\[/.test(text)) continue
    const isSubstring = /^\$\{\w+:/.test(text)
    if (isSubstring && !expanded.has(index)) continue
    for (const { 0: written, 1: name = '', 2: positional = '', index: inside } of text.matchAll(NAMES)) {
      const offset = index + inside
      if (!stands.has(offset) && inside > 0 && holds(name || positional, offset))
        stands.set(offset, { offset, length: written.length, written, isComputed: !isSubstring })
    }
  }
  return [...stands.values()]
}

/** Whether a variable or a positional holds a value, at a place of the script. */
export function holdsValue({ names, positionalHolds }: Held, name: string, offset: number): boolean {
  return OWN.test(name) ? positionalHolds(name, offset) : names.has(name)
}

/** A name in arithmetic, with its `$` if it has one, or a positional. What stands in braces is read elsewhere. */
const NAMES = /(?<![\w{$])\$?([A-Za-z_]\w*)|\$([1-9@*])/g

/** `${x%.txt}`, but neither a length nor what is named by another variable. */
function bracedAt(template: string, offset: number): string | undefined {
  BRACED.lastIndex = offset
  return BRACED.exec(template)?.[0]
}

const BRACED = /\$\{\w+(?:[-:=+?#%/^,@][^{}'"`$]*)?\}/y
