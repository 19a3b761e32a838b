import type { AtipEffects } from './metadata.js'

/** The longest description OpenAI accepts. */
export const OPENAI_DESCRIPTION_MAX_LENGTH = 1024

/** What a description warns of, in the order in which it does. */
export const SAFETY_FLAGS = {
  DESTRUCTIVE: '⚠️ DESTRUCTIVE',
  NOT_REVERSIBLE: '⚠️ NOT REVERSIBLE',
  NOT_IDEMPOTENT: '⚠️ NOT IDEMPOTENT',
  BILLABLE: '💰 BILLABLE',
  READ_ONLY: '🔒 READ-ONLY',
} as const

/** A command's description with its safety suffix. Only the text is ever cut, never the warning. */
export function describe(text: string, effects: AtipEffects, maxLength = Number.POSITIVE_INFINITY): string {
  const flags = safetyFlags(effects)
  const suffix = flags.length > 0 ? ` [${flags.join(' | ')}]` : ''
  const room = maxLength - suffix.length
  return text.length <= room ? text + suffix : `${cut(text, room - 3)}...${suffix}`
}

/** `text` cut to `length` without leaving half of a surrogate pair. */
export function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

function safetyFlags(effects: AtipEffects): string[] {
  const flags: string[] = []
  if (effects.destructive === true) flags.push(SAFETY_FLAGS.DESTRUCTIVE)
  if (effects.reversible === false) flags.push(SAFETY_FLAGS.NOT_REVERSIBLE)
  if (effects.idempotent === false) flags.push(SAFETY_FLAGS.NOT_IDEMPOTENT)
  if (effects.cost?.billable === true) flags.push(SAFETY_FLAGS.BILLABLE)
  if (isReadOnly(effects)) flags.push(SAFETY_FLAGS.READ_ONLY)
  return flags
}

/** Only what is stated counts: a command that says nothing about the network is not read-only. */
function isReadOnly(effects: AtipEffects): boolean {
  const writes = effects.filesystem?.write !== false || effects.filesystem.delete === true
  return effects.network === false && !writes && effects.destructive !== true
}
