import { main } from '@delta/sessions/internal'
import type { Terminal } from '../terminal.js'

/** `delta sessions …`: the same as `delta-sessions …`, which parses its own arguments. */
export function execute(_flags: object, terminal: Terminal, words: string[]): Promise<number> {
  const { signals, ...rest } = terminal
  return main({
    ...rest,
    name: 'delta sessions',
    argv: ['node', 'delta-sessions', ...words],
    once: (name, listener) => signals.once(name, listener),
    off: (name, listener) => signals.off(name, listener),
  })
}
