import type { PreparedCall } from '@delta/executor'
import type { Thought } from '@delta/journal/runs'

/** One call of a thought, with the id under which the journal knows it. */
export type Call = Thought['tool_calls'][number]

/** A call whose command has passed lookup, validation and policy. */
export type ReadyCall = Exclude<PreparedCall, { decision: 'refuse' }>
