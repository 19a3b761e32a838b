import { quoteForPerson, renderDisplay } from '@delta/executor'
import type { ActionRequest, EngineStart } from '@delta/journal'
import { inColumns } from './columns.js'
import { printableLine } from './printable.js'

/** What a tool's author says of how its calls are shown. */
interface ShownTool {
  /** The words of its command as its author wrote them; none of an imported one. */
  written: readonly string[]
  display: string | undefined
  isSandboxed: boolean
}

/** By the tool's name. */
export type ShownTools = ReadonlyMap<string, ShownTool>

/** The tools of a run's agent when its engine began. */
export function shownTools({ config }: EngineStart): ShownTools {
  const { tools } = Object(config) as { tools?: unknown }
  const shown = new Map<string, ShownTool>()
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { name, command, trust, display, sandbox } = Object(tool) as Record<string, unknown>
    if (typeof name !== 'string' || !Array.isArray(command)) continue
    shown.set(name, {
      written: trust === undefined ? command.filter((word) => typeof word === 'string') : [],
      display: typeof display === 'string' ? display : undefined,
      isSandboxed: sandbox !== undefined && sandbox !== false,
    })
  }
  return shown
}

/** Columns that one value in a `display:` text may take. */
const WIDEST_VALUE = 60

/**
 * A call as people see it: `write $ tee draft.txt`, or what `display:` of its tool says instead; of a call without a command,
 * because it was refused or its journal is old, the arguments as the model wrote them.
 *
 * @param whole - The command, whatever `display:` says.
 */
export function callLine(request: ActionRequest, tools: ShownTools, whole: boolean): string {
  const { tool_name: name, tool_args: args, resolved_command: resolved } = request
  const tool = tools.get(name)
  const command = commandLine(request, tool)
  if (command === undefined) {
    const refused = resolved === null ? ' (refused)' : ''
    return `${printableLine(name)}${refused}${writtenArguments(args)}`
  }
  if (isShownAsCommand(request, tools, whole)) return `${printableLine(name)} $ ${command}`
  return printableLine(renderDisplay(tool?.display ?? '', args, shortened))
}

export function isShownAsCommand(request: ActionRequest, tools: ShownTools, whole: boolean): boolean {
  if (typeof request.resolved_command !== 'string') return false
  return whole || tools.get(request.tool_name)?.display === undefined
}

function shortened(value: string): string {
  return inColumns(printableLine(value), WIDEST_VALUE)
}

/**
 * The command as it would be typed; undefined for a call that has none. A script by the tool's author keeps its lines. In the
 * model's arguments, line breaks are escaped, so that no argument can begin a new line and pass for the next step of the run.
 * Of a sandboxed command, what runs inside.
 */
function commandLine(
  { argv, resolved_command: command }: ActionRequest,
  { written, isSandboxed }: Pick<ShownTool, 'written' | 'isSandboxed'> = { written: [], isSandboxed: false },
): string | undefined {
  if (command === undefined || command === null) return undefined
  if (!argv) return command.replaceAll('\n', '\n     ')
  if (!isSandboxed || argv[0] !== 'bwrap') return quoteForPerson(argv, written)
  return `${quoteForPerson(argv.slice(argv.indexOf('--') + 1), written)} (bwrap)`
}

/** The arguments after the name of a call that has no command, on the same line; '' for none. */
function writtenArguments(args: unknown): string {
  const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
  return text === '' || text === '{}' ? '' : ` ${printableLine(text)}`
}
