import { cacheMisses, type SentRequest, type Trace } from '@delta/trace'
import type { SourceChart } from './api.js'

const MOST_REQUESTS = 1000

/** Tokens by source of each request; of more than 1,000, of every k-th. */
export async function sourceChart(trace: Trace, requests: number): Promise<SourceChart> {
  const every = Math.max(1, Math.ceil(requests / MOST_REQUESTS))
  const sources = new Map<string, SourceChart['sources'][number]>()
  const columns: (Omit<SourceChart['columns'][number], 'tokens'> & { shares: Shares })[] = []
  const broken = new Set<number>()
  if (every === 1) for await (const { n, broken: place } of cacheMisses(trace)) if (place) broken.add(n)
  let count = 0
  for await (const { n, request } of trace.steps()) {
    if (request === undefined || count++ % every !== 0) continue
    for (const { source_id: source, type } of request.blocks) sources.set(source, { source, type })
    const isEstimated = request.tokens === null
    columns.push({ n, shares: sharesIn(request), isBroken: broken.has(n), isEstimated })
  }
  sources.set('answers', { source: 'answers', type: 'answers' })
  const names = [...sources.keys()]
  return {
    sources: [...sources.values()],
    every,
    columns: columns.map(({ shares, ...column }) => ({
      ...column,
      tokens: names.map((name) => shares.get(name) ?? [0, 0]),
    })),
  }
}

type Shares = Map<string, [cached: number, fresh: number]>

function sharesIn({ blocks, tokens }: SentRequest): Shares {
  const shares: Shares = new Map()
  for (const { source_id, read, written, new: fresh } of blocks) {
    const [cached, more] = shares.get(source_id) ?? [0, 0]
    shares.set(source_id, [cached + read, more + written + fresh])
  }
  return shares.set('answers', [0, tokens === null ? 0 : tokens.output + tokens.reasoning])
}
