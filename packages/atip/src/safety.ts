import { isInteractive } from '@delta/tool-expander/internal'
import { type AtipLeaf, leavesOf } from './leaves.js'
import type { AtipEffects, AtipTool } from './metadata.js'

/** The longest description OpenAI accepts. */
export const OPENAI_DESCRIPTION_MAX_LENGTH = 1024

/** What a description warns of, in this order. */
export const SAFETY_FLAGS = {
  DESTRUCTIVE: '⚠️ DESTRUCTIVE',
  NOT_REVERSIBLE: '⚠️ NOT REVERSIBLE',
  NOT_IDEMPOTENT: '⚠️ NOT IDEMPOTENT',
  BILLABLE: '💰 BILLABLE',
  READ_ONLY: '🔒 READ-ONLY',
} as const

/** A command's description with its safety suffix. Only the text is ever cut, never the warning. */
export function describe(
  { command, effects }: AtipLeaf,
  maxLength: number = Number.POSITIVE_INFINITY,
): string {
  const text = command.description
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

interface Section {
  title: string
  guidance: string
  applies(effects: AtipEffects): boolean
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Destructive',
    guidance: 'These commands permanently destroy data. Always confirm with the user before you call them:',
    applies: (effects) => effects.destructive === true,
  },
  {
    title: 'Non-Reversible',
    guidance: 'What these commands do cannot be undone:',
    applies: (effects) => effects.reversible === false,
  },
  {
    title: 'Non-Idempotent',
    guidance: 'Calling one of these commands again does its work again:',
    applies: (effects) => effects.idempotent === false,
  },
  {
    title: 'Billable',
    guidance: 'These commands cost money:',
    applies: (effects) => effects.cost?.billable === true,
  },
  {
    title: 'Network',
    guidance: 'These commands use the network:',
    applies: (effects) => effects.network === true,
  },
  {
    title: 'Interactive',
    guidance: 'These commands ask questions and wait for an answer:',
    applies: isInteractive,
  },
]

/**
 * A paragraph for the system prompt that names the commands to be careful with; `""` if there are none.
 *
 * @throws {AtipValidationError} A tool is invalid.
 */
export function generateSafetyPrompt(tools: readonly AtipTool[]): string {
  const leaves = tools.flatMap((tool) => leavesOf(tool))
  const sections = SECTIONS.flatMap((section) => formatSection(section, leaves))
  return sections.length > 0 ? ['## Tool Safety Summary', ...sections].join('\n\n') : ''
}

function formatSection(section: Section, leaves: readonly AtipLeaf[]): string[] {
  const lines = leaves
    .filter((leaf) => section.applies(leaf.effects))
    .map((leaf) => `- \`${leaf.name}\`: ${leaf.command.description.replaceAll('\n', ' ')}`)
  return lines.length > 0 ? [[`### ${section.title} Operations`, section.guidance, ...lines].join('\n')] : []
}
