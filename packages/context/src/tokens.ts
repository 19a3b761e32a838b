import { type CommandOptions, describeEnd, runContextCommand } from './command.js'
import type { MessageGroup } from './conversation.js'
import { ContextError } from './errors.js'
import type { ContextCommand, ContextManifest } from './manifest.js'
import { type Sized, USUAL_BYTES_PER_TOKEN } from './size.js'

/** The provider's last count for a request of this run. It calibrates estimates for this model and kind of text. */
export interface Calibration {
  tokens: number
  /** Size of that request's body. */
  bytes: number
}

/** Counts the tokens of several texts at once. */
export type CountTokens = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>

/** Options of the counting of tokens. */
export interface MeterOptions extends CommandOptions {
  calibration?: Calibration | undefined
  /** Counts exactly, instead of `token_counter` of the manifest. */
  countTokens?: CountTokens | undefined
}

/** A count beyond these reflects the provider's bookkeeping, not the text. */
const MIN_BYTES_PER_TOKEN = 1.5
const MAX_BYTES_PER_TOKEN = 8

/** Estimates the tokens of `bytes` of UTF-8 by the last count of the provider, or else at four bytes each. */
export function estimateTokens(bytes: number, calibration?: Calibration): number {
  if (calibration === undefined || calibration.tokens <= 0 || calibration.bytes <= 0)
    return Math.ceil(bytes / USUAL_BYTES_PER_TOKEN)
  const ratio = calibration.bytes / calibration.tokens
  return Math.ceil(bytes / Math.min(MAX_BYTES_PER_TOKEN, Math.max(MIN_BYTES_PER_TOKEN, ratio)))
}

/** Tokens of the role and the separators of one message, with most providers. */
const FRAME_TOKENS = 4

export type Meter = ReturnType<typeof createMeter>

/**
 * Measures messages and definitions of tools: by an exact counter if there is one, else by their size and the provider's last
 * count.
 */
export function createMeter({ tokenCounter }: ContextManifest, options: MeterOptions) {
  const { countTokens, calibration } = options
  const count = countTokens ?? (tokenCounter && commandCounter(tokenCounter, options))
  const counted = new Map<Sized, number>()

  /** Counts messages at once, because a counter may be a program. Needed before `tokens` of these messages. */
  async function countAll(messages: readonly Sized[]): Promise<void> {
    if (count === undefined || messages.length === 0) return
    const counts = await count(messages.map(({ sent }) => textsOf(sent).join('\n')))
    const usable = counts.every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)
    const who = countTokens === undefined ? PROGRAM : 'countTokens'
    if (counts.length !== messages.length || !usable)
      throw failure(`${who} gave no whole number for each of ${messages.length} texts`)
    for (const [index, message] of messages.entries()) counted.set(message, counts[index] ?? 0)
  }
  function tokens(message: Sized): number {
    if (count === undefined) return estimateTokens(message.bytes, calibration)
    return (counted.get(message) ?? 0) + message.mediaTokens + FRAME_TOKENS
  }
  function tokensOf(groups: readonly MessageGroup[]): number {
    let sum = 0
    for (const { messages } of groups) for (const message of messages) sum += tokens(message)
    return sum
  }
  return { count: countAll, tokens, tokensOf }
}

/** The strings of a message, as a tokenizer sees them: without JSON's quotes and escapes, and without the role. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'role' ? [] : textsOf(inner)))
}

const PROGRAM = 'context.yaml: the token counter'

/** A program that counts tokens: it reads one JSON string a line, and prints one number a line. */
function commandCounter(command: ContextCommand, options: CommandOptions): CountTokens {
  return async (texts) => {
    const stdin = texts.map((text) => `${JSON.stringify(text)}\n`).join('')
    const { outcome } = await runContextCommand(command, options, stdin)
    if (outcome.status === 'ABORTED') throw new ContextError('ERR_CONTEXT_ABORTED', `${PROGRAM} was stopped.`)
    if (outcome.status !== 'EXITED' || outcome.exitCode !== 0)
      throw failure(`${PROGRAM} ${describeEnd(outcome, command)}`)
    const lines = outcome.stdout.text.trim().split('\n')
    return lines.map((line) => (line.trim() === '' ? Number.NaN : Number(line))) // an empty one would be 0
  }
}

function failure(what: string): ContextError {
  const hint =
    'A token_counter reads a JSON string a line, and prints a number a line. Without one, tokens are estimated.'
  return new ContextError('ERR_CONTEXT_COUNTER', `${what}.\n${hint}`)
}
