import type { AtipCommand, AtipTool, ToolCall } from '../src/index.js'

/** A valid tool named `box` with the given commands; `extra` replaces or adds root members. */
export function box(commands: Record<string, AtipCommand>, extra: Partial<AtipTool> = {}): AtipTool {
  return { atip: { version: '0.6' }, name: 'box', version: '1.0.0', description: 'A box', commands, ...extra }
}

/** The tool `echo`, whose commands print the words they were run with. */
export function echo(commands: Record<string, AtipCommand>, extra: Partial<AtipTool> = {}): AtipTool {
  return box(commands, { name: 'echo', ...extra })
}

export function call(name: string, args: Record<string, unknown> = {}): ToolCall {
  return { id: 'call_1', name, arguments: args }
}
