import { setFlagsFromString } from 'node:v8'
import type { EngineEvent } from '@delta/engine'

/**
 * V8's flags while commands run, and as they were, by V8's major version: V8 complains of flags it does not know.
 *
 * `semi-space-growth-factor`: young objects stay in a megabyte, for starting a process copies the page tables of everything
 * held. `interrupt-budget`: a function is optimized when it is nine times as hot as usual; before, that takes longer than it
 * saves.
 */
const FLAGS: Readonly<Record<string, { small: readonly string[]; usual: readonly string[] }>> = {
  // Node 20
  '11': {
    small: ['--semi-space-growth-factor=1', '--interrupt-budget=600000'],
    usual: ['--semi-space-growth-factor=2', '--interrupt-budget=67584'],
  },
  // Node 22 and 24
  '12': { small: ['--semi-space-growth-factor=1'], usual: ['--semi-space-growth-factor=2'] },
  '13': { small: ['--semi-space-growth-factor=1'], usual: ['--semi-space-growth-factor=2'] },
}

/**
 * Keeps a run small from its first result to its end.
 *
 * Not before: compiled code, ours and that of node's own modules, counts for one set of flags, and a start would have to
 * compile everything anew. And not after, for what was compiled is then kept for the next start.
 */
export function keepingSmall(show: (event: EngineEvent) => void): (event: EngineEvent) => void {
  const flags = FLAGS[process.versions.v8.split('.')[0] ?? '']
  let isSmall = false

  function set(small: boolean): void {
    if (small === isSmall) return
    isSmall = small
    for (const flag of (small ? flags?.small : flags?.usual) ?? []) setFlagsFromString(flag)
  }

  return (event) => {
    show(event)
    if (event.kind !== 'journal') return
    if (event.event.type === 'ACTION_RESULT') set(true)
    if (event.event.type === 'ENGINE_END') set(false)
  }
}
