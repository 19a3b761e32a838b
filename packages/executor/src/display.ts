import type { ExpandedTool, Problem } from '@delta/tool-expander'

/** `${name}`, or `\${name}` for the text itself. */
const PLACEHOLDER = /(\\)?\$\{([^}]*)\}/g

/** The problems of a tool's `display:`, in the order of the text. */
export function findDisplayProblems(
  display: string | undefined,
  { name: toolName, parameters }: Pick<ExpandedTool, 'name' | 'parameters'>,
): Problem[] {
  if (display === undefined) return []
  const names = parameters.map(({ name }) => name)
  const known = names.length > 0 ? ` of ${toolName} (${names.join(', ')})` : `: ${toolName} has none`
  return [...display.matchAll(PLACEHOLDER)]
    .filter(({ 1: escaped, 2: name = '' }) => escaped === undefined && !names.includes(name))
    .map(({ 0: written, index }) => ({
      path: 'display',
      message: `${written} is not a parameter${known}`,
      column: index + 1,
    }))
}

/**
 * The text of `display:` with the arguments of one call; an absent one is empty.
 *
 * @param show - Writes one value. A model chose it, so on a terminal it must have no control characters.
 */
export function renderDisplay(display: string, args: unknown, show: (value: string) => string): string {
  const values = new Map(Object.entries(Object(args)))
  return display.replace(PLACEHOLDER, (written, escaped: string | undefined, name: string) => {
    if (escaped !== undefined) return written.slice(1)
    const value = values.get(name)
    if (value === undefined || value === null) return ''
    return show(typeof value === 'string' ? value : JSON.stringify(value))
  })
}
