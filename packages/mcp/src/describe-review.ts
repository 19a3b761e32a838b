import { diffWordsWithSpace } from 'diff'
import type { ChangedTool, ServerReview } from './import-server.js'
import { isSame } from './review.js'
import type { ReviewedTool } from './server-file.js'

/**
 * A review for a person: each tool that changed, with its old words as `[-old-]` and its new ones as `{+new+}`.
 *
 * @returns Empty if nothing changed.
 */
export function describeReview({ changed, added, removed }: ServerReview): string {
  const blocks = [
    ...changed.map(describeChange),
    ...added.map(({ name, description = '' }) => `${name} is new\n${indented(description)}`),
    ...removed.map((tool) => `${tool} is gone\n`),
  ]
  return blocks.join('\n')
}

function describeChange({ reviewed, offered, parts }: ChangedTool): string {
  const texts = [
    parts.includes('description') && wordDiff(reviewed.description ?? '', offered.description ?? ''),
    parts.includes('input_schema') && wordDiff(pretty(reviewed.inputSchema), pretty(offered.input_schema)),
    parts.includes('effects') && changedEffects(reviewed, offered['x-mcp'].effects),
  ].filter((text) => text !== false)
  return `${reviewed.name} changed (${parts.join(', ')})\n${texts.map(indented).join('')}`
}

function changedEffects({ effects, declaredEffects }: ReviewedTool, now: unknown): string {
  const isOwn = !isSame(effects ?? {}, declaredEffects ?? {})
  const own = isOwn ? `\nThe effects that you wrote stay: ${inWords(effects)}` : ''
  return `effects that the server declares: ${inWords(declaredEffects)} -> ${inWords(now)}${own}`
}

function inWords(effects: unknown): string {
  return effects === undefined ? 'none' : JSON.stringify(effects)
}

function pretty(schema: unknown): string {
  return JSON.stringify(schema, null, 2) ?? ''
}

function indented(text: string): string {
  return text === '' ? '' : `${text.replaceAll(/^(?=.)/gm, '  ')}\n`
}

function wordDiff(before: string, after: string): string {
  return diffWordsWithSpace(before, after)
    .map(({ value, added, removed }) => (added ? `{+${value}+}` : removed ? `[-${value}-]` : value))
    .join('')
}
