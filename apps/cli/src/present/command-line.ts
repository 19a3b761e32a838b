import { quoteForPerson } from '@delta/executor'
import type { ActionRequest, EngineStart } from '@delta/journal'
import { printableLine } from './printable.js'

/** The words of each tool's command as its author wrote them, by the tool's name. */
export type WrittenCommands = ReadonlyMap<string, readonly string[]>

/** The tools of a run's agent when its engine began. */
export function writtenCommands({ config }: EngineStart): WrittenCommands {
  const { tools } = Object(config) as { tools?: unknown }
  const written = new Map<string, string[]>()
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { name, command, trust } = Object(tool) as Record<string, unknown>
    if (typeof name !== 'string' || !Array.isArray(command) || trust !== undefined) continue
    written.set(
      name,
      command.filter((word) => typeof word === 'string'),
    )
  }
  return written
}

/**
 * The command of a call as it would be typed; undefined for a call that has none. A script by the tool's author keeps its
 * lines. In the model's arguments, line breaks are escaped, so that no argument can begin a new line and pass for the next
 * step of the run.
 */
export function commandLine(request: ActionRequest, written: WrittenCommands): string | undefined {
  const { argv, resolved_command: command, tool_name: name } = request
  if (command === undefined || command === null) return undefined
  return argv ? quoteForPerson(argv, written.get(name) ?? []) : command.replaceAll('\n', '\n     ')
}

/** The arguments after the name of a call that has no command, on the same line; '' for none. */
export function writtenArguments(args: unknown): string {
  const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
  return text === '' || text === '{}' ? '' : ` ${printableLine(text)}`
}
