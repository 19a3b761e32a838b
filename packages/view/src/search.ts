import { type ContentPart, isKnownEvent, reasoningOf, type StoredEvent } from '@delta/trace/internal'
import type { SearchMatch } from './api.js'

const AROUND_CHARACTERS = 60

/** Where a text stands in a run, as found. Upper and lower case are the same. */
export async function* searchIn(
  events: AsyncIterable<StoredEvent>,
  wanted: string,
): AsyncGenerator<SearchMatch> {
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu')
  let n = 0
  for await (const event of events) {
    const { iteration } = event as { iteration?: unknown }
    if (typeof iteration === 'number') n = Math.max(n, iteration)
    for (const { text, ...place } of textsIn(event))
      for (const { index, 0: match } of text.matchAll(pattern)) {
        const end = index + match.length
        yield {
          n: place.where === 'said' ? n + 1 : n, // what is said is said before the next request
          ...place,
          before: text.slice(Math.max(0, index - AROUND_CHARACTERS), index),
          match,
          after: text.slice(end, end + AROUND_CHARACTERS),
        }
      }
  }
}

type Place = Pick<SearchMatch, 'where' | 'tool' | 'actionId'> & { text: string }

function textsIn(event: StoredEvent): Place[] {
  if (!isKnownEvent(event)) return []
  switch (event.type) {
    case 'USER_MESSAGE':
    case 'SYSTEM_MESSAGE':
      return [{ where: 'said', text: wordsOf(event.content) }]
    case 'THOUGHT': {
      const calls = event.tool_calls.map(({ name: tool, action_id: actionId, arguments: text }): Place => {
        return { where: 'call', tool, actionId, text }
      })
      const reasoning = event.message ? reasoningOf(Object(event.message)) : ''
      return [{ where: 'reasoning', text: reasoning }, { where: 'thought', text: event.content }, ...calls]
    }
    case 'ACTION_RESULT': {
      const { tool_name: tool, action_id: actionId, observation_content: text } = event
      return [{ where: 'result', tool, actionId, text }]
    }
    case 'ERROR':
      return [{ where: 'error', text: event.error_message }]
    default:
      return []
  }
}

function wordsOf(content: string | ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
