import type { RunRow, Tokens } from '../src/api.js'

/** How a run stands, in a word: `running`, `limit_cost`, `waiting`. */
export function statusWord({ status, reasonCode }: Pick<RunRow, 'status' | 'reasonCode'>): string {
  if (status === 'WAITING_FOR_INPUT') return 'waiting'
  if (status === 'FAILED' || status === 'INTERRUPTED') return reasonCode ?? status.toLowerCase()
  return status.toLowerCase()
}

/** The class that colours it: failed is red, waiting amber, what runs has the accent; completed is plain. */
export function statusClass(status: string | null): string {
  if (status === 'RUNNING') return 'runs'
  if (status === 'WAITING_FOR_INPUT') return 'waits'
  return status === 'FAILED' || status === 'DAMAGED' || status === 'INTERRUPTED'
    ? 'bad'
    : status === 'GONE'
      ? 'dim'
      : ''
}

/** The class that colours the state of a cell, by the same rule. */
export function stateClass(state: string | undefined): string {
  if (state === 'running') return 'runs'
  if (state === 'unscored-infra' || state === 'invalid' || state === 'lost') return 'bad'
  return state === 'earlier' || state === 'left' ? 'dim' : ''
}

export function inputOf(tokens: Tokens): number {
  return tokens.input + tokens.cache_read + tokens.cache_write
}

export function outputOf(tokens: Tokens): number {
  return tokens.output + tokens.reasoning
}

export function sumOf(tokens: Tokens): number {
  return inputOf(tokens) + outputOf(tokens)
}

/** The colour of a source, by its kind and its place among the others. */
export function sourceColors(sources: readonly { type: string }[]): string[] {
  let others = 0
  return sources.map(({ type }) => {
    if (type === 'tools' || type === 'journal' || type === 'answers') return `var(--source-${type})`
    others += 1
    return `var(--source-${((others - 1) % 5) + 1})`
  })
}
