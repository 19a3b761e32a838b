import type { EngineEnd, EngineStart, ErrorEvent, JournalEvent } from '@delta/journal'
import { counted } from './counted.js'
import { describeReplacement, describeRequest, describeResult, hookLine } from './describe-call.js'
import { describeThought } from './describe-thought.js'
import type { Detail } from './detail.js'
import { duration } from './duration.js'
import { indented } from './indented.js'
import { printable, printableLine } from './printable.js'

/** One event as lines for people; none when there is nothing to say. Control sequences are made visible. */
export function describeEvent(event: JournalEvent, detail: Detail): string[] {
  const { style, verbose, transcript = false } = detail
  switch (event.type) {
    case 'ENGINE_START':
      return [style.dim(printableLine(start(event)))]
    case 'USER_MESSAGE':
      return transcript ? indented('> ', event.content, style.bold) : []
    case 'THOUGHT':
      return event.tool_calls.length > 0 || transcript ? describeThought(event, detail) : []
    case 'ACTION_REQUEST':
      return describeRequest(event, detail)
    case 'ACTION_RESULT':
      return describeResult(event, detail)
    case 'HUMAN_INPUT_REQUEST':
      if (event.argv === undefined) return indented('   ask_human ? ', event.prompt, style.yellow)
      // an approval shows its command itself
      return transcript ? indented('   ? ', event.prompt, style.yellow) : []
    case 'HUMAN_INPUT_RECEIVED':
      return indented('   > ', event.remember === undefined ? event.response : 'always', style.bold)
    case 'ERROR':
      return failure(event, detail)
    case 'SYSTEM_MESSAGE':
      return indented('   ', event.content, style.dim)
    case 'HOOK_EXECUTION_AUDIT':
      return [
        ...(verbose ? indented('   ', hookLine(event), style.dim) : []),
        ...describeReplacement(event, detail),
      ]
    case 'ENGINE_END':
      return [style.dim(ending(event, detail))]
    default:
      return event satisfies never
  }
}

function start({ resumed, run_id: runId, agent_name: agent, work_dir: workDirectory }: EngineStart): string {
  return `${resumed ? 'resuming' : 'run'} ${runId} of ${agent ?? 'an agent'} in ${workDirectory ?? '?'}`
}

/** A failure that is retried is one line; the final one is reported when the run has ended. */
function failure(event: ErrorEvent, { style, transcript }: Detail): string[] {
  if (!event.recoverable) return transcript ? indented('   ! ', event.error_message, style.red) : []
  const [first = ''] = event.error_message.split('\n')
  const { delay_ms: delay, unless } = Object(event.error_details) as { delay_ms?: unknown; unless?: unknown }
  const exception = unless === 'on_error' ? ', unless the on_error hook stops the run' : ''
  const said =
    typeof delay === 'number'
      ? `${first.replace(/\.$/, '')}; trying again ${delay < 1 ? 'at once' : `in ${duration(delay)}`}${exception}`
      : first
  return indented('   ! ', said, style.red)
}

function ending(event: EngineEnd, { transcript }: Detail): string {
  const { status, final_iteration: iterations = 0, usage, reason } = event
  const tokens = usage?.total_tokens ? `, ${usage.total_tokens} tokens` : ''
  const told = (status === 'FAILED' || status === 'COMPLETED') && !transcript // the command's last lines say it
  const why = reason && !told ? ` (${printable(reason.split('\n')[0] ?? '')})` : ''
  return `${status}${why} after ${counted(iterations, 'iteration')}${tokens}`
}
