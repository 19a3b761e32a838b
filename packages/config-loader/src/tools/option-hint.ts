type Item = Record<string, unknown>

/** How an option is written that stands in `exec:` or `shell:`, which know only values: in the author's own words. */
export function optionHint(entry: Item, item: Item): string {
  const { name, type, option_name: written } = entry
  const option = typeof written === 'string' ? written : `--${name}`
  if (item.shell !== undefined) {
    const way = type === 'boolean' ? `if [ \${${name}} = true ]; then …` : `${option}=\${${name}}`
    return `Options are for command:, which runs one program. A script writes them itself: ${way}`
  }
  const command = plainCommand(item)
  if (command === undefined)
    return `Options are for command:, a list of words with the parameters behind it, of which ${entryOf(entry)} becomes ${option}.`
  const entries = [...optionsOf(item), ...command.values.filter((each) => !isOption(each, item))]
  const listed = entries.map((each) => entryOf(typeof each === 'string' ? { name: each } : each))
  return `Options are for command:. Instead of exec: write command: [${command.words.join(', ')}] and parameters: [${listed.join(', ')}]`
}

/** The words before the values, if nothing but values stands behind them: then `command:` says the same. */
function plainCommand({ exec }: Item): { words: string[]; values: string[] } | undefined {
  const all = String(exec).trim().split(/\s+/)
  const start = all.findIndex((word) => word.includes('${'))
  const words = start < 0 ? all : all.slice(0, start)
  const values = all.slice(words.length).map((word) => /^\$\{(\w+)\}$/.exec(word)?.[1])
  const isPlain = words.every((word) => /^[\w./@%+-]+$/.test(word)) && !values.includes(undefined)
  return isPlain ? { words, values: values as string[] } : undefined
}

function optionsOf({ parameters }: Item): Item[] {
  return (Array.isArray(parameters) ? parameters : []).filter((each) => Object(each).inject_as === 'option')
}

function isOption(name: string, item: Item): boolean {
  return optionsOf(item).some((entry) => entry.name === name)
}

function entryOf({ name, type, option_name, inject_as }: Item): string {
  const keys = { name, type, inject_as, option_name }
  const written = Object.entries(keys).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${value}`,
  )
  return `{ ${written.join(', ')} }`
}
