import type { ActionRequest, JournalEvent } from '@delta/journal'
import { attribution } from './attribution.js'
import { type WrittenCommands, writtenCommands } from './command-line.js'
import { describeEvent } from './describe.js'
import type { Detail } from './detail.js'

export interface EventDescriber {
  (event: JournalEvent): string[]
  /** A call that was shown by somebody else, and whose result is still to come. */
  remember(request: ActionRequest): void
}

/**
 * Describes the events of one run in the order in which they come: each with what it takes to be understood below the one
 * before it, and without what that has said.
 */
export function eventDescriber(detail: Detail): EventDescriber {
  const { style } = detail
  const commands = attribution()
  let written: WrittenCommands = new Map()
  let told: Detail = { ...detail, written }
  /** What the last error said that nobody tries again. */
  let failure: string | undefined
  /** The last error said that it is tried again, and so far it was not. */
  let isPromised = false

  function describe(event: JournalEvent): string[] {
    if (event.type === 'ENGINE_START') {
      written = writtenCommands(event)
      told = { ...detail, written }
    }
    const command = commands.above(event, written)
    const isTakenBack = event.type === 'ENGINE_END' && event.status === 'FAILED' && isPromised
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

/** An end whose reason has just been told as an error does not tell it again. */
function withoutRepetition(event: JournalEvent, failure: string | undefined): JournalEvent {
  if (event.type !== 'ENGINE_END' || event.reason === undefined || event.reason !== failure) return event
  const { reason: _, ...rest } = event
  return rest
}
