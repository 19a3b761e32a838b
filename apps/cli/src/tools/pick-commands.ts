import type { AtipCommand, AtipTool } from '@delta/atip'

/** A description with only these commands and groups, given as words (`issue list`), and marked as partial. */
export function pickCommands(tool: AtipTool, wanted: readonly string[]): AtipTool {
  const commands = pick(tool.commands ?? {}, [], wanted)
  return { ...tool, commands, partial: true, filter: { commands: wanted } }
}

type Commands = Record<string, AtipCommand>

function pick(commands: Commands, above: readonly string[], wanted: readonly string[]): Commands {
  const kept = Object.entries(commands).flatMap(([name, command]): [string, AtipCommand][] => {
    const path = [...above, name]
    if (wanted.includes(path.join(' '))) return [[name, command]]
    const below = pick(command.commands ?? {}, path, wanted)
    return Object.keys(below).length === 0 ? [] : [[name, { ...command, commands: below }]]
  })
  return Object.fromEntries(kept)
}
