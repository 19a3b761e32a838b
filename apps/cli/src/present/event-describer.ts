import type { ActionRequest, ActionResult, HookExecutionAudit, JournalEvent } from '@delta/journal'
import { commandLine, type WrittenCommands, writtenCommands } from './command-line.js'
import { type Detail, describeEvent, isAnswer, written } from './describe.js'
import { printable, printableLine } from './printable.js'

/** Characters of a command that is said once more above its result. */
const REPEATED_CHARACTERS = 100

export interface EventDescriber {
  (event: JournalEvent): string[]
  /** A call that was shown by somebody else, and whose result is still to come. */
  remember(request: ActionRequest): void
}

/**
 * Describes the events of one run in the order in which they come. A result that does not follow its own command, because
 * calls ran side by side or the run was interrupted between the two, is told with the command it belongs to.
 */
export function eventDescriber(detail: Detail): EventDescriber {
  /** The calls without a result, by their `action_id`, as they are said once more. */
  const open = new Map<string, string>()
  /** Whose result would stand in its place now. */
  let last: string | undefined
  /** What the last error said that nobody tries again. */
  let failure: string | undefined
  /** The last error said that it is tried again, and so far it was not. */
  let isPromised = false
  let written: WrittenCommands = new Map()

  /** The calls of this cycle that have a result, in the same way; the one whose result was told last is the last. */
  const ended = new Map<string, string>()

  function attribution(result: ActionResult): string[] {
    const { action_id: id, tool_name: name } = result
    const said = open.get(id) ?? printableLine(name)
    open.delete(id)
    ended.delete(id)
    ended.set(id, said)
    return last === id || isAnswer(result) ? [] : [detail.style.cyan(`   ↳ ${said}`)]
  }

  /** A replacement of another result than the one above it, where calls ran side by side. */
  function replaced({ action_id: id, observation_override: text }: HookExecutionAudit): string[] {
    if (typeof text !== 'string' || typeof id !== 'string' || [...ended.keys()].at(-1) === id) return []
    return [detail.style.cyan(`   ↳ ${ended.get(id) ?? printableLine(id)}`)]
  }

  function describe(event: JournalEvent): string[] {
    if (event.type === 'ENGINE_START') written = writtenCommands(event)
    const lines = describeEvent(withoutRepetition(event, failure), { ...detail, written })
    if (event.type === 'ERROR' && !event.recoverable) failure = event.error_message
    if (event.type === 'ENGINE_END' && event.status === 'FAILED' && isPromised)
      lines.unshift(detail.style.red('   ! not tried again'))
    if (event.type !== 'HOOK_EXECUTION_AUDIT')
      isPromised = event.type === 'ERROR' && event.recoverable === true
    if (event.type === 'ACTION_REQUEST') {
      last = event.tool_name === 'ask_human' ? undefined : event.action_id // which shows no line of its own
      open.set(event.action_id, repeated(event, written))
    }
    if (event.type === 'ACTION_RESULT') {
      lines.unshift(...attribution(event))
      last = undefined
    }
    if (event.type === 'HOOK_EXECUTION_AUDIT') lines.unshift(...replaced(event))
    if (event.type === 'THOUGHT') ended.clear()
    if (event.type === 'ENGINE_START' || event.type === 'THOUGHT') last = undefined
    return lines
  }

  return Object.assign(describe, {
    remember: (request: ActionRequest) => void open.set(request.action_id, repeated(request, written)),
  })
}

/** An end whose reason has just been told as an error does not tell it again. */
function withoutRepetition(event: JournalEvent, failure: string | undefined): JournalEvent {
  if (event.type !== 'ENGINE_END' || event.reason === undefined || event.reason !== failure) return event
  const { reason: _, ...rest } = event
  return rest
}

function repeated(request: ActionRequest, known: WrittenCommands): string {
  const { tool_name: name, tool_args: args } = request
  const command = commandLine(request, known)
  const said = command ?? `${printableLine(name)}${written(args)}`
  const [line = '', ...rest] = printable(said).split('\n')
  const isCut = rest.length > 0 || line.length > REPEATED_CHARACTERS
  return `${command === undefined ? '' : '$ '}${line.slice(0, REPEATED_CHARACTERS)}${isCut ? ' …' : ''}`
}
