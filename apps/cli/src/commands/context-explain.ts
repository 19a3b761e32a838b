import { table } from '../present/columns.js'
import { print, printJson } from '../present/print.js'
import { printable } from '../present/printable.js'
import { type ExplainedBreak, findCacheBreaks } from '../runs/cache-breaks.js'
import { type ContextFlags, type NextContext, nextContext } from '../runs/next-context.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

/** `delta context explain`: what each source of `context.yaml` costs now, and which ones keep a provider from caching. */
export async function execute(flags: ContextFlags, terminal: Terminal): Promise<number> {
  const next = await nextContext(flags, terminal)
  const breaks = next.run ? await findCacheBreaks(next.run, next) : []
  if (flags.json) printJson(terminal, asRecord(next, breaks))
  else print(terminal, asText(next, breaks))
  return EXIT.completed
}

function asRecord({ context, iteration, run, agent }: NextContext, breaks: ExplainedBreak[]): object {
  return {
    run_id: run?.runId ?? null,
    iteration,
    sources: context.blocks,
    total: { ...totalOf(context), limit_tokens: agent.manifest.totalMaxTokens ?? null },
    warnings: context.warnings,
    cache_breaks: breaks.map(({ tokensAfter, ...rest }) => ({ ...rest, tokens_after: tokensAfter })),
  }
}

function totalOf({ messages, blocks }: NextContext['context']) {
  return {
    messages: messages.length,
    bytes: blocks.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function asText({ context, iteration, run, agent }: NextContext, breaks: readonly ExplainedBreak[]): string {
  const { messages, bytes, tokens } = totalOf(context)
  const limit = agent.manifest.totalMaxTokens
  const rows = context.blocks.map((block) => [
    printable(block.source_id),
    block.type,
    ...[block.messages, block.bytes, block.tokens].map(String),
    printable(block.note ?? ''),
  ])
  const total = ['all', '', ...[messages, bytes, tokens].map(String)]
  const note = limit === undefined ? '' : `of at most ${limit} tokens`
  const what = run ? `Iteration ${iteration} of run ${run.runId}` : 'The first iteration of a new run'
  return [
    `${what}, as it would be sent now:\n`,
    table([['SOURCE', 'TYPE', 'MESSAGES', 'BYTES', 'TOKENS', 'NOTE'], ...rows, [...total, note]]),
    ...(breaks.length === 0 ? [] : ['\nThe provider cannot use its cache from these places on:\n']),
    ...breaks.map((each) => `  iteration ${each.iteration}: ${printable(each.message)}\n`),
    ...(breaks.some(({ type }) => type !== 'journal') ? [ORDER_ADVICE] : []),
    ...(breaks.some(({ type }) => type === 'journal') ? [JOURNAL_ADVICE] : []),
  ].join('')
}

const ORDER_ADVICE = 'Put a source that changes often after those that do not.\n'
const JOURNAL_ADVICE =
  'A conversation changes when old iterations are dropped: max_iterations does so each time, a token limit in large steps.\n'
