import { parseArgs } from 'node:util'

const OPTIONS = {
  'sessions-dir': { type: 'string' },
  timeout: { type: 'string' },
  secret: { type: 'string', multiple: true },
  'max-output': { type: 'string' },
  raw: { type: 'boolean' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

/** What was typed makes no sense; the message says what would. */
export class UsageError extends Error {}

export type Values = ReturnType<typeof parseWords>['values']

/** @throws {UsageError} */
export function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(explain(error))
  }
}

/** Node's own words, and ours where those lead astray. */
function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return `${message.split('.')[0]}. --help lists those there are. ${QUOTE_IT}`
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+)/.exec(message) ?? []
  if (option === undefined) return message
  const takesNone = message.includes('does not take')
  return `${option}: ${takesNone ? 'takes no value' : 'needs a value, which cannot begin with a dash'}. --help says more.`
}

/** @throws {UsageError} There are more than `count` of them. */
export function atMost(operands: readonly string[], count: number): readonly string[] {
  const surplus = operands[count]
  if (surplus === undefined) return operands
  throw new UsageError(`"${surplus}" is too much. ${QUOTE_IT}`)
}

const QUOTE_IT = 'Quote the command to run as one argument, or send it on stdin.'

const UNITS: Record<string, number> = { '': 1, ms: 1, s: 1000, m: 60_000 }

/** `--timeout` in milliseconds. @throws {UsageError} */
export function timeoutOf({ timeout }: Values): number | undefined {
  if (timeout === undefined) return undefined
  const [, digits, unit = ''] = /^0*([1-9]\d*)(ms|s|m)?$/.exec(timeout) ?? []
  if (digits === undefined) {
    throw new UsageError(`--timeout ${timeout}: expected milliseconds above 0, or a number with ms, s or m.`)
  }
  return Number(digits) * (UNITS[unit] ?? 1)
}

/** `--max-output` in bytes. @throws {UsageError} */
export function maxOutputOf({ 'max-output': bytes }: Values): number | undefined {
  if (bytes === undefined) return undefined
  if (!/^\d+$/.test(bytes)) throw new UsageError(`--max-output ${bytes}: expected a number of bytes.`)
  return Number(bytes)
}
