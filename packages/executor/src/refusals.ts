import { nearestNames, showValue } from '@delta/settings'
import { type BindProblem, type ExpandedTool, toJsonSchema } from '@delta/tool-expander'

const MOST_NAMED = 50

export function unknownTool(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known)
  const lines = [`ERROR: there is no tool ${showValue(name)}. Nothing was run.`]
  if (near.length > 0) lines.push(`Did you mean ${near.map((each) => `"${each}"`).join(' or ')}?`)
  lines.push(known.length > 0 ? `The tools are: ${someOf(known)}.` : 'There are no tools.')
  return lines.join('\n')
}

/** The request lists all tools; an observation need not repeat thousands. */
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

export function refusedArguments(tool: ExpandedTool, problems: readonly BindProblem[]): string {
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

/** What the author of a tool can change if the refused value was right. */
export function adviceOnDash({ name }: ExpandedTool, problems: readonly BindProblem[]): string | undefined {
  const refused = problems.find(({ code }) => code === 'ERR_ARGUMENT_DASH')
  if (refused === undefined) return undefined
  return `${name}: a value of "${refused.parameter}" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.`
}

function describeParameters(tool: ExpandedTool): string {
  const { properties, required } = toJsonSchema(tool)
  const described = Object.entries(properties).map(([name, { type = 'any' }]) => {
    const types = [type].flat().join(' or ')
    return `${name} (${types}${required.includes(name) ? ', required' : ''})`
  })
  if (described.length === 0) return 'It takes no parameters: {}.'
  return `Its parameters: ${described.join(', ')}.`
}
