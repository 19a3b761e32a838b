import type { AtipCommand, AtipTool } from '../src/index.js'

/** A valid tool named `box` with the given commands; `extra` replaces or adds root members. */
export function box(commands: Record<string, AtipCommand>, extra: Partial<AtipTool> = {}): AtipTool {
  return { atip: { version: '0.6' }, name: 'box', version: '1.0.0', description: 'A box', commands, ...extra }
}

/** Metadata as it arrives: from JSON, where `__proto__` is an ordinary member. */
export function fromJson(text: string): AtipTool {
  return JSON.parse(text)
}
