import { dump } from 'js-yaml'
import type { Terminal } from '../terminal.js'
import { screenWidth } from './print.js'

/** YAML for a result: on a screen a long text is folded between its words, and stays the same text; a file or a pipe gets it whole. */
export function asYaml(value: unknown, terminal: Terminal): string {
  const lineWidth = screenWidth(terminal) ?? -1
  return dump(value, { lineWidth, quoteStyle: 'double', noRefs: true })
}
