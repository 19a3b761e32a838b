import { type CostedBlock, findCacheBreak, type SentRequest, type Step } from '@delta/trace'
import { pieceReader, recordedParts, textOfBlock } from '@delta/trace/internal'
import type { Block, RequestDetail } from './api.js'

/** What a request was made of, and what changed in it since the one before. */
export async function requestDetail(
  directory: string,
  { request }: Step,
  before: Step | undefined,
): Promise<RequestDetail | undefined> {
  if (request === undefined || request.ref === '') return undefined
  const parts = recordedParts(directory)
  const [earlier, lines] = [before?.request, await parts.linesOf(request)]
  const earlierLines = earlier && (await parts.linesOf(earlier))
  const [body, earlierBody] = [await parts.bodyOf(request), earlier && (await parts.bodyOf(earlier))]
  const cacheBreak = body && earlierBody && findCacheBreak(earlierBody, body)
  const changeOf = changesSince(earlier, earlierLines?.messages ?? [], request, lines?.messages ?? [])
  const tools = await tokensByTool(request, parts)
  return {
    sha256: request.sha256,
    bytes: request.bytes,
    rewrittenBy: request.rewrittenBy ?? null,
    blocks: request.blocks.map((block, index): Block => {
      const { source_id: source, type, bytes, tokens: estimate, read, written, messages, note } = block
      const { message, from, to, header_bytes: headerBytes = 0 } = block
      return {
        index,
        source,
        type,
        bytes,
        estimate,
        read,
        written,
        new: block.new,
        messages,
        ...(message !== undefined && { message }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        headerBytes,
        note: note ?? null,
        change: changeOf(block),
        by: type === 'journal' ? shares(tools, read + written + block.new) : [],
        ...(cacheBreak?.source === source && cacheBreak.type === type && { breaksAt: cacheBreak.byte }),
      }
    }),
    removed: (earlier?.blocks ?? [])
      .filter(({ source_id }) => !request.blocks.some((block) => block.source_id === source_id))
      .map(({ source_id: source, tokens }) => ({ source, tokens })),
    ...(cacheBreak && { cacheBreak }),
  }
}

/** What became of a block since the request before. The same message is the same line of the record. */
function changesSince(
  earlier: SentRequest | undefined,
  earlierLines: readonly number[],
  { api }: SentRequest,
  lines: readonly number[],
): (block: CostedBlock) => Block['change'] {
  return ({ source_id, type, sha256, message = 0 }) => {
    const same = earlier?.blocks.find((block) => block.source_id === source_id && block.type === type)
    if (same === undefined) return 'first'
    if (same.sha256 === sha256) return 'same'
    if (type !== 'journal' || earlierLines.length === 0) return 'changed'
    // of a chat it is known which messages are those of the conversation; what is before and after them may change as it likes
    const [begin, end] = api === 'chat' ? [same.message ?? 0, (same.message ?? 0) + same.messages] : [0]
    const offset = api === 'chat' ? message : 0
    const isContinued = earlierLines.slice(begin, end).every((line, index) => line === lines[offset + index])
    return isContinued ? 'grown' : 'changed'
  }
}

/** Tokens of calls and their results in a conversation, by tool. */
async function tokensByTool(
  request: SentRequest,
  parts: ReturnType<typeof recordedParts>,
): Promise<Map<string, number>> {
  const byTool = new Map<string, number>()
  if (request.rewrittenBy !== undefined) return byTool
  for (const { tool, actionId, read, written, new: fresh } of await pieceReader(parts)(request))
    if (tool !== undefined && actionId !== undefined)
      byTool.set(tool, (byTool.get(tool) ?? 0) + read + written + fresh)
  return byTool
}

function shares(byTool: ReadonlyMap<string, number>, all: number): Block['by'] {
  const named = [...byTool].map(([tool, tokens]) => ({ tool, tokens }))
  const rest = all - named.reduce((sum, { tokens }) => sum + tokens, 0)
  const sorted = named.sort((one, other) => other.tokens - one.tokens)
  return rest > 0 ? [...sorted, { tool: null, tokens: rest }] : sorted
}

/** The text of one block of a request; undefined if it is not recorded. */
export async function blockText(
  directory: string,
  { request }: Step,
  index: number,
): Promise<string | undefined> {
  const block = request?.blocks[index]
  if (request === undefined || block === undefined) return undefined
  const body = await recordedParts(directory).bodyOf(request)
  return body && textOfBlock(body, block)
}
