import type { ActionRequest, JournalEvent } from '@delta/journal'
import { attribution } from './attribution.js'
import { type WrittenCommands, writtenCommands } from './command-line.js'
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
  const commands = attribution()
  let written: WrittenCommands = new Map()
  let told: Detail = { ...detail, written }
  /** The message of the last error that is not retried. */
  let failure: string | undefined
  /** The last error announced another attempt, which has not happened yet. */
  let isPromised = false

  function describe(event: JournalEvent): string[] {
    if (event.type === 'ENGINE_START') {
      written = writtenCommands(event)
      told = { ...detail, written }
    }
    const command = commands.above(event, written)
    const isEnd =
      event.type === 'ERROR' ? !event.recoverable : event.type === 'ENGINE_END' && event.status === 'FAILED'
    const isTakenBack = isPromised && isEnd
    const lines = describeEvent(withoutRepetition(event, failure), told)
    if (event.type === 'ERROR' && !event.recoverable) failure = event.error_message
    if (event.type !== 'HOOK_EXECUTION_AUDIT')
      isPromised = event.type === 'ERROR' && event.recoverable === true
    return [
      ...(command === undefined ? [] : [style.cyan(`   ↳ ${command}`)]),
      ...(isTakenBack ? [style.red('   ! not tried again')] : []),
      ...lines,
    ]
  }

  return Object.assign(describe, {
    remember: (request: ActionRequest) => commands.remember(request, written),
  })
}

/** Drops the reason of an `ENGINE_END` if it was just shown as an error. */
function withoutRepetition(event: JournalEvent, failure: string | undefined): JournalEvent {
  if (event.type !== 'ENGINE_END' || event.reason === undefined || event.reason !== failure) return event
  const { reason: _, ...rest } = event
  return rest
}
