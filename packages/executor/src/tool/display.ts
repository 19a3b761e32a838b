import type { ExpandedTool, Problem } from '@delta/tool-expander'

/** `${name}`, or `\${name}` for the text itself. */
const PLACEHOLDER = /(\\)?\$\{([^}]*)\}/g

/** What is wrong with `display:` of a tool, in the order of the text. */
export function findDisplayProblems(
  display: string,
  { name: toolName, parameters }: Pick<ExpandedTool, 'name' | 'parameters'>,
): Problem[] {
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
 * The text of `display:` with the arguments of one call; those that are absent become nothing.
 *
 * @param show - How one value is written; a model chose it, so a terminal wants it without control characters.
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
