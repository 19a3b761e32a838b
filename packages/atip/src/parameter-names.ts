import type { AtipCommand, AtipOption } from './metadata.js'

/** A command's options, and those of the tool's global ones that it does not define itself. */
export function withGlobal(command: AtipCommand, global: readonly AtipOption[] = []): readonly AtipOption[] {
  const { arguments: positional = [], options = [] } = command
  if (global.length === 0) return options
  const isOwn = lookup(positional, options)
  return options.concat(global.filter(({ name }) => !isOwn(name)))
}

/** The first name that two of a command's parameters have. */
export function firstTwice(own: readonly Named[] | undefined, options: readonly Named[]): string | undefined {
  const parameters = parametersOf(own, options)
  if (parameters.length > FEW) {
    const seen = new Set<string>()
    return parameters.find(({ name }) => seen.size === seen.add(name).size)?.name
  }
  for (let index = 1; index < parameters.length; index++) {
    const { name } = parameters[index] as Named
    for (let other = 0; other < index; other++) if (parameters[other]?.name === name) return name
  }
  return undefined
}

type Named = { name: string }

function parametersOf(own: readonly Named[] = [], options: readonly Named[]): readonly Named[] {
  return own.length === 0 ? options : own.concat(options)
}

/** Building a set costs more than looking through a few names, and most commands have a few. */
const FEW = 16

function lookup(some: readonly Named[], others: readonly Named[]): (name: string) => boolean {
  if (some.length + others.length <= FEW) return (name) => isAmong(some, name) || isAmong(others, name)
  const names = new Set([...some, ...others].map(({ name }) => name))
  return (name) => names.has(name)
}

function isAmong(parameters: readonly Named[], wanted: string): boolean {
  for (const { name } of parameters) if (name === wanted) return true
  return false
}
