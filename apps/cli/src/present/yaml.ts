import { stringify } from 'yaml'
import type { Terminal } from '../terminal.js'
import { screenWidth } from './print.js'

/** The library does not count the key before a text. This is the one whose texts are long. */
const KEY = 'description: '
const NARROWEST = 20

/** YAML for a result: on a screen a long text is folded between its words, and stays the same text; a file or a pipe gets it whole. */
export function asYaml(value: unknown, terminal: Terminal): string {
  const width = screenWidth(terminal)
  const lineWidth = width === undefined ? 0 : Math.max(width - KEY.length, NARROWEST)
  // Plain values have no tags, and looking for some would visit all of them.
  return stringify(value, { lineWidth, directives: false })
}
