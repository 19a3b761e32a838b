import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** What is waited for: a text it contains, a pattern it matches, or a test of the whole text. */
export type Condition = string | RegExp | ((text: string) => boolean)

export interface WaitOptions {
  /** When to give up, with an error that shows what was there. Default 120000. */
  readonly timeoutMs?: number
}

/** Resolves with a file's text once it exists and meets the condition. */
export async function waitForFile(
  path: string,
  condition: Condition = '',
  options: WaitOptions = {},
): Promise<string> {
  return waitUntil(() => readIfThere(path), condition, options, `${path} to meet the condition`)
}

/** Looks every 10 ms, until `read()` gives a text that meets the condition. An error of `read` ends the wait. */
export async function waitUntil(
  read: () => string | undefined,
  condition: Condition,
  { timeoutMs = 120_000 }: WaitOptions,
  what: string,
): Promise<string> {
  const giveUpAt = Date.now() + timeoutMs
  for (;;) {
    const text = read()
    if (text !== undefined && meets(text, condition)) return text
    if (Date.now() > giveUpAt)
      throw new Error(`Waited ${timeoutMs} ms for ${what}. There is:\n${text ?? '(nothing)'}`)
    await wait(10)
  }
}

export function meets(text: string, condition: Condition): boolean {
  if (typeof condition === 'string') return text.includes(condition)
  return condition instanceof RegExp ? condition.test(text) : condition(text)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Tries something with a short time limit, and with longer ones as long as the limit came before `hasBegun`: how soon a
 * program begins is the machine's affair, and what a limit interrupts must have begun.
 *
 * @returns What the last attempt came to, and its limit.
 */
export async function tryLimits<Outcome>(
  attempt: (limitMs: number) => Promise<Outcome>,
  hasBegun: () => boolean,
): Promise<[outcome: Outcome, limitMs: number]> {
  for (let limitMs = 250; ; limitMs *= 4) {
    const outcome = await attempt(limitMs)
    if (hasBegun() || limitMs > LONGEST_MS) return [outcome, limitMs]
  }
}

const LONGEST_MS = 10_000
