import { type Document, dump, SCALAR_STYLE, strTag, visit } from 'js-yaml'
import type { Terminal } from '../terminal/terminal.js'
import { screenWidth } from './print.js'

/** YAML for a result: on a screen a long text is folded between its words, and stays the same text; a file or a pipe gets it whole. */
export function asYaml(value: unknown, terminal: Terminal): string {
  const lineWidth = screenWidth(terminal) ?? -1
  return dump(value, { lineWidth, quoteStyle: 'double', noRefs: true, transform: quoteWhatIsReadDifferently })
}

/** Numbers beyond all others, which not every parser takes for a text, and last lines of blanks, which not every one keeps. */
const READ_DIFFERENTLY = /^[-+]?[\d.]+e\+?\d+$|^[-+]?\d{300}|^0[xo]|\n[ \t]+\n*$/i

function quoteWhatIsReadDifferently(documents: Document[]): void {
  visit(documents, (node) => {
    const isText = node.kind === 'scalar' && node.tag === strTag.tagName
    if (isText && READ_DIFFERENTLY.test(node.value)) node.style = SCALAR_STYLE.DOUBLE_QUOTED
  })
}
