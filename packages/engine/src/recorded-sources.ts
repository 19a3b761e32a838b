import { createHash } from 'node:crypto'
import type { RecordedSources } from '@delta/context'
import type { RecordedRequests } from '@delta/journal/internal'

/** What the record of a request says about one source, as the context wrote it. */
interface Block {
  source_id: string
  messages: number
  from?: number
  to?: number
  header_bytes?: number
  sha256: string
}

/**
 * The sources of one recorded request.
 *
 * A text is found by its hash among all texts of the body, because each API puts it elsewhere: in a message, in `system`, in
 * `instructions`.
 */
export function sourcesOf(
  requests: RecordedRequests,
  about: {
    /** Which request; undefined if none is recorded. */
    index: number | undefined
    agentHome: string | undefined
    notRecorded(sourceId: string): Error
  },
): RecordedSources {
  const { index, agentHome, notRecorded } = about
  const blocks = index === undefined ? [] : (requests.blocks(index) as Block[])
  const blockOf = (sourceId: string) => blocks.find(({ source_id }) => source_id === sourceId)

  function textOf(sourceId: string): string | undefined {
    const block = blockOf(sourceId)
    if (block?.messages === 0) return undefined
    const text = block && index !== undefined ? textIn(bodyOf(requests, index), block) : undefined
    if (text === undefined) throw notRecorded(sourceId)
    return text
  }

  function wasThere(sourceId: string): boolean | undefined {
    const block = blockOf(sourceId)
    return block && block.messages > 0
  }

  return { agentHome, wasThere, textOf }
}

function bodyOf(requests: RecordedRequests, index: number): unknown[] {
  const { parameters, messages } = requests.parts(index)
  return [requests.part(parameters), ...messages.map(requests.part)]
}

/** Undefined if no text of the body is the block's: it may be an image. */
function textIn(
  body: unknown,
  { from = 0, to = 0, header_bytes: header = 0, sha256 }: Block,
): string | undefined {
  for (const text of textsIn(body)) {
    const bytes = Buffer.from(text)
    if (bytes.length < to) continue
    const whole = bytes.toString('utf8', from, to)
    if (ROLES.some((role) => sha256Of(JSON.stringify({ role, content: whole })) === sha256))
      return bytes.toString('utf8', from + header, to)
  }
  return undefined
}

const ROLES = ['system', 'developer', 'user']

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The Messages API gets what the system says later as a text of the user, in a tag. */
const TAGGED = /^<system>(.*)<\/system>$/s

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    yield value
    const tagged = TAGGED.exec(value)?.[1]
    if (tagged !== undefined) yield tagged
  } else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) yield* textsIn(each)
}
