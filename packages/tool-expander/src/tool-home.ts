import { type Part, parseElement, WRITTEN_VARIABLE, writeElement } from './template.js'
import type { ExpandedTool } from './tool.js'

/**
 * The same tool with a path in the place of `${TOOL_HOME}`, for a file that lies elsewhere. What its author wrote (`__meta`) stays.
 *
 * @param home - May begin with `${AGENT_HOME}`.
 */
export function withToolHome(tool: ExpandedTool, home: string): ExpandedTool {
  const { command, substitute, checked_words: words } = tool
  const inElement = (element: string) => writeElement(joined(parseElement(element).flatMap(inPart)))
  const inPart = (part: Part) =>
    typeof part !== 'string' && part.name === 'TOOL_HOME' ? partsOf(home) : [part]
  const inPlain = (element: string) =>
    element.replace(WRITTEN_VARIABLE, (all, name) => (name === 'TOOL_HOME' ? home : all))
  return {
    ...tool,
    command: command.map(substitute ? inElement : inPlain),
    ...(words && { checked_words: words.map(inElement) }),
  }
}

/** A path is text, and so is a `${` in it, but for the variable that it may begin with. */
function partsOf(home: string): Part[] {
  const [, variable, rest = home] = /^(\$\{AGENT_HOME\})(.*)$/s.exec(home) ?? []
  return [...(variable ? [{ name: 'AGENT_HOME', offset: 0 }] : []), ...(rest ? [rest] : [])]
}

/** Fixed text that stands together is one part. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (typeof part === 'string' && typeof last === 'string') all.splice(-1, 1, last + part)
    else all.push(part)
  }
  return all
}
