import type { ChatMessage } from '@delta/model'
import { type CommandOptions, describeEnd, runContextCommand } from './command.js'
import type { MessageGroup, SizedMessage } from './conversation.js'
import { ContextError } from './errors.js'
import type { ContextCommand, ContextManifest } from './manifest.js'

/**
 * What the provider last counted for a request of this run, and how many bytes that request's body had.
 * One true count groups a rule of thumb into an estimate for this model, this language and this kind of text.
 */
export interface Calibration {
  tokens: number
  bytes: number
}

/** Counts the tokens of several texts at once. */
export type CountTokens = (texts: readonly string[]) => readonly number[] | Promise<readonly number[]>

/** How tokens are counted besides what the manifest says. */
export interface MeterOptions extends CommandOptions {
  /** Makes estimates true to the provider. */
  calibration?: Calibration | undefined
  /** Counts instead of estimating; comes before `token_counter` of the manifest. */
  countTokens?: CountTokens | undefined
}

const USUAL_BYTES_PER_TOKEN = 4
/** Beyond these a count says more about the provider's bookkeeping than about the text. */
const FEWEST = 1.5
const MOST = 8

/** Estimates the tokens of so many bytes of UTF-8, by the last true count if there is one, else four bytes each. */
export function estimateTokens(bytes: number, calibration?: Calibration): number {
  if (calibration === undefined || calibration.tokens <= 0 || calibration.bytes <= 0)
    return Math.ceil(bytes / USUAL_BYTES_PER_TOKEN)
  const ratio = calibration.bytes / calibration.tokens
  return Math.ceil(bytes / Math.min(MOST, Math.max(FEWEST, ratio)))
}

/** Role, separators and names cost this much besides the text, with most providers. */
const FRAME_TOKENS = 4

export type Meter = ReturnType<typeof createMeter>

/** Tells what messages cost: by an exact counter if there is one, else by their size and what the provider last counted. */
export function createMeter({ tokenCounter }: ContextManifest, options: MeterOptions) {
  const { countTokens, calibration } = options
  const count = countTokens ?? (tokenCounter && commandCounter(tokenCounter, options))
  const counted = new Map<SizedMessage, number>()

  /** Counts several messages in one go: a counter may be a program. Comes before `tokens` of these. */
  async function countAll(given: Iterable<SizedMessage>): Promise<void> {
    if (count === undefined) return
    const messages = [...given]
    if (messages.length === 0) return
    const counts = await count(messages.map(({ message }) => textsOf(message).join('\n')))
    const usable = counts.every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)
    const who = countTokens === undefined ? PROGRAM : 'countTokens'
    if (counts.length !== messages.length || !usable)
      throw failure(`${who} gave no whole number for each of ${messages.length} texts`)
    for (const [index, message] of messages.entries()) counted.set(message, counts[index] ?? 0)
  }
  function tokens(message: SizedMessage): number {
    if (count === undefined) return estimateTokens(message.bytes, calibration)
    return (counted.get(message) ?? 0) + FRAME_TOKENS
  }
  function tokensOf(groups: readonly MessageGroup[]): number {
    let sum = 0
    for (const { messages } of groups) for (const message of messages) sum += tokens(message)
    return sum
  }
  return { count: countAll, tokens, tokensOf }
}

/** What a tokenizer sees of a message: every text in it, without JSON's quotes and escapes. */
function textsOf({ role: _, ...rest }: ChatMessage): string[] {
  const visit = (value: unknown): string[] => {
    if (typeof value === 'string') return [value]
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(visit) : []
  }
  return visit(rest)
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
