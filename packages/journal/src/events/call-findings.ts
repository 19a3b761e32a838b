import { isKnownEvent, type StoredEvent } from './event.js'

interface Call {
  action_id: string
  name: string
  thought: number
  results: number
}

/** What breaks "every call gets exactly one result", in words; nothing for a sound journal. */
export function callFindings(events: StoredEvent[]): string[] {
  const calls = new Map<string, Call>()
  const findings: string[] = []
  let lastThought = 0
  for (const event of events) {
    if (!isKnownEvent(event)) continue
    if (event.type === 'THOUGHT') {
      lastThought = event.seq
      for (const { action_id, name } of event.tool_calls) {
        if (calls.has(action_id))
          findings.push(`Event ${event.seq} uses the action id ${action_id} a second time.`)
        calls.set(action_id, { action_id, name, thought: event.seq, results: 0 })
      }
    }
    if (event.type === 'ACTION_RESULT') {
      const call = calls.get(event.action_id)
      if (call) call.results += 1
      else
        findings.push(`Event ${event.seq} is the result of ${event.action_id}, which no THOUGHT asked for.`)
    }
  }
  return [...findings, ...[...calls.values()].flatMap((call) => countFinding(call, lastThought))]
}

function countFinding({ action_id, name, thought, results }: Call, lastThought: number): string[] {
  if (results > 1) return [`${name} (${action_id}, asked for by event ${thought}) has ${results} results.`]
  if (results === 1 || thought === lastThought) return [] // calls of the last THOUGHT may still be running
  return [`${name} (${action_id}, asked for by event ${thought}) has no result.`]
}
