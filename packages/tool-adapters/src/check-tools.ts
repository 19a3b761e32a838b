import type { Tool } from '@delta/executor'
import { AdapterError } from './errors.js'
import { requireThat } from './usage.js'

/** @throws {AdapterError} `ERR_ADAPTER_OPTIONS`: it is no list of tools. `ERR_ADAPTER_DUPLICATE`: two have one name. */
export function checkTools(name: string, tools: unknown): void {
  const isList = Array.isArray(tools) && tools.every((tool) => typeof Object(tool).expanded === 'object')
  requireThat(isList, `${name}: the list of tools`, 'what defineTool of @delta/executor makes, in a list')
  const names = (tools as readonly Tool[]).map(({ expanded }) => expanded.name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined)
    throw new AdapterError(
      'ERR_ADAPTER_DUPLICATE',
      `Two tools are called "${twice}". A model could not tell them apart.`,
    )
}
