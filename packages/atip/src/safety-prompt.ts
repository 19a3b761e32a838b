import { type AtipLeaf, leavesOf } from './leaves.js'
import type { AtipEffects, AtipTool } from './metadata.js'

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

/** A paragraph for the system prompt that names the commands to be careful with. `""` if there are none. */
export function generateSafetyPrompt(tools: readonly AtipTool[]): string {
  const leaves = tools.flatMap((tool) => leavesOf(tool))
  const sections = SECTIONS.flatMap((section) => formatSection(section, leaves))
  return sections.length > 0 ? ['## Tool Safety Summary', ...sections].join('\n\n') : ''
}

/** True when a command would wait for someone at the keyboard. */
export function isInteractive(effects: AtipEffects): boolean {
  const { stdin, prompts, tty } = effects.interactive ?? {}
  return stdin === 'required' || stdin === 'password' || prompts === true || tty === true
}

function formatSection(section: Section, leaves: readonly AtipLeaf[]): string[] {
  const lines = leaves
    .filter((leaf) => section.applies(leaf.effects))
    .map((leaf) => `- \`${leaf.name}\`: ${leaf.command.description.replaceAll('\n', ' ')}`)
  return lines.length > 0 ? [[`### ${section.title} Operations`, section.guidance, ...lines].join('\n')] : []
}
