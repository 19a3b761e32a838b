import type { ExpandedTool } from '@delta/tool-expander'
import { nearestNames } from '../nearest.js'

/*
 * What a model reads instead of a result when its call was not run. The first line says so in as many words.
 */

const LONGEST_SHOWN = 80
const MOST_NAMED = 50

export function unknownTool(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known)
  const lines = [`ERROR: there is no tool ${shown(name)}. Nothing was run.`]
  if (near.length > 0) lines.push(`Did you mean ${near.map((each) => `"${each}"`).join(' or ')}?`)
  lines.push(known.length > 0 ? `The tools are: ${someOf(known)}.` : 'There are no tools.')
  return lines.join('\n')
}

/** The model has been given them all; of thousands it need not be told again. */
function someOf(names: readonly string[]): string {
  if (names.length <= MOST_NAMED) return names.join(', ')
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`
}

export function badArguments(tool: ExpandedTool, reason: string): string {
  return [
    `ERROR: the arguments of "${tool.name}" ${reason}. Nothing was run.`,
    `Send one JSON object. ${describeParameters(tool)}`,
  ].join('\n')
}

export function refusedArguments(
  tool: ExpandedTool,
  problems: readonly { parameter?: string; message: string }[],
): string {
  return [
    `ERROR: the arguments of "${tool.name}" were not accepted. Nothing was run.`,
    ...problems.map(({ message }) => `- ${message}`),
    describeParameters(tool),
  ].join('\n')
}

export function blockedByPolicy(tool: ExpandedTool, reasons: readonly string[]): string {
  return [
    `BLOCKED: the policy of this agent does not allow "${tool.name}": ${reasons.join(', ')}. Nothing was run.`,
    'Calling it again will not help; use another tool, or say what you would need.',
  ].join('\n')
}

function describeParameters({ parameters }: ExpandedTool): string {
  if (parameters.length === 0) return 'It takes no parameters: {}.'
  const described = parameters.map(
    ({ name, type, required }) => `${name} (${type}${required ? ', required' : ''})`,
  )
  return `Its parameters: ${described.join(', ')}.`
}

function shown(name: string): string {
  return JSON.stringify(name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name)
}
