import { type Document, dump, SCALAR_STYLE, strTag, visit } from 'js-yaml'
import type { Terminal } from '../terminal/terminal.js'
import { screenWidth } from './print.js'

/** YAML for a result. On a screen, long strings are folded between words, which does not change their value; a file or a pipe gets them unfolded. */
export function asYaml(value: unknown, terminal: Terminal): string {
  const lineWidth = screenWidth(terminal) ?? -1
  return dump(value, { lineWidth, quoteStyle: 'double', noRefs: true, transform: quoteWhatIsReadDifferently })
}

/** Strings that parsers disagree on: huge or odd numbers, which some do not read as text, and a last line of blanks, which some drop. */
const READ_DIFFERENTLY = /^[-+]?[\d.]+e\+?\d+$|^[-+]?\d{300}|^0[xo]|\n[ \t]+\n*$/i

function quoteWhatIsReadDifferently(documents: Document[]): void {
  visit(documents, (node) => {
    const isText = node.kind === 'scalar' && node.tag === strTag.tagName
    if (isText && READ_DIFFERENTLY.test(node.value)) node.style = SCALAR_STYLE.DOUBLE_QUOTED
  })
}
