import { requireThat } from './usage.js'

/** @throws {AdapterError} `ERR_ADAPTER_OPTIONS`: it is no list of tools. */
export function checkTools(name: string, tools: unknown): void {
  const isList = Array.isArray(tools) && tools.every((tool) => typeof Object(tool).expanded === 'object')
  requireThat(isList, `${name}: the list of tools`, 'what defineTool of @delta/executor makes, in a list')
}
