import type { ActionRequest, JournalEvent } from '@delta/journal'
import { attribution } from './attribution.js'
import { hanging } from './columns.js'
import { isShownAsCommand, type ShownTools, shownTools } from './command-line.js'
import { describeEvent } from './describe.js'
import type { Detail } from './detail.js'

export interface EventDescriber {
  (event: JournalEvent): string[]
  /** Notes a call that was shown earlier, and whose result is still to come. */
  remember(request: ActionRequest): void
}

/**
 * Describes the events of one run, in order. Each description adds what is needed to understand it in its place, and leaves
 * out what an earlier one has said.
 */
export function eventDescriber(detail: Detail): EventDescriber {
  const { style } = detail
  const calls = attribution(detail)
  let tools: ShownTools = new Map()
  let told: Detail = { ...detail, tools }
  /** The message of the last error that is not retried. */
  let failure: string | undefined
  /** The last error announced another attempt, which has not happened yet. */
  let isPromised = false

  function describe(event: JournalEvent): string[] {
    if (event.type === 'ENGINE_START') {
      tools = shownTools(event)
      told = { ...detail, tools }
    }
    const call = calls.above(event, tools)
    const isEnd =
      event.type === 'ERROR' ? !event.recoverable : event.type === 'ENGINE_END' && event.status === 'FAILED'
    const isTakenBack = isPromised && isEnd
    const lines = describeEvent(withoutRepetition(event, failure), told)
    if (event.type === 'ERROR' && !event.recoverable) failure = event.error_message
    if (event.type !== 'HOOK_EXECUTION_AUDIT')
      isPromised = event.type === 'ERROR' && event.recoverable === true
    const all = [
      ...(call === undefined ? [] : [style.cyan(`   ↳ ${call}`)]),
      ...(isTakenBack ? [style.red('   ! not tried again')] : []),
      ...lines,
    ]
    // a command is for pasting, too: only the terminal breaks it
    const isCommand = event.type === 'ACTION_REQUEST' && isShownAsCommand(event, tools, detail.verbose)
    const columns = isCommand ? undefined : detail.columns?.()
    return columns === undefined ? all : all.flatMap((line) => hanging(line, columns))
  }

  return Object.assign(describe, {
    remember: (request: ActionRequest) => calls.remember(request, tools),
  })
}

/** Drops the reason of an `ENGINE_END` if it was just shown as an error. */
function withoutRepetition(event: JournalEvent, failure: string | undefined): JournalEvent {
  if (event.type !== 'ENGINE_END' || event.reason === undefined || event.reason !== failure) return event
  const { reason: _, ...rest } = event
  return rest
}
