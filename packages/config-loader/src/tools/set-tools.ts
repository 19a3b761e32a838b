import { collectFindings, type Findings, isSet } from '../findings.js'
import { isMap } from '../is-map.js'
import { reportNoElement, type SetValue, setIn, setsBelow, valueAt } from '../shape/set.js'
import { byName, expandedFormOf, type ToolSet } from './tool-set.js'
import { type LoadedTool, readTool } from './tools.js'

/**
 * The tools, with what was set in them: each is made anew from its definition, in whichever file that stands.
 *
 * @param sets - Their paths begin with the name of a tool.
 * @param hasAll - False if tools are missing because something is wrong with them: then no name is called unknown.
 */
export function setTools(
  tools: ToolSet,
  sets: readonly SetValue[],
  { hasAll }: { hasAll: boolean },
  findings: Findings,
): ToolSet {
  const names = [...tools.keys()]
  for (const { path, place } of sets) {
    const [name = ''] = path
    if (hasAll && !tools.has(name)) reportNoElement(name, names, { list: 'tools', place }, findings)
  }
  return byName([...tools].flatMap(([name, loaded]) => setTool(loaded, setsBelow(sets, name), findings)))
}

function setTool(loaded: LoadedTool, sets: readonly SetValue[], findings: Findings): LoadedTool[] {
  const [first] = sets
  if (first === undefined) return [loaded]
  const { path } = loaded
  const set = setIn(definitionOf(loaded, sets), loaded.file, path, sets, findings)
  if (set.value === undefined) return [] // tools.bash= takes it away
  const found = collectFindings()
  const remade = readTool(set.value, set.file, path, found)
  const place = (sets.at(-1) ?? first).place
  for (const { message, hint, ...at } of found.problems) findings.error(isSet(at) ? at : place, message, hint)
  for (const { message, hint, deprecated: _, ...at } of found.warnings) // those of the file itself are known
    if (isSet(at)) findings.warn(at, message, hint)
  return remade === undefined ? [] : [remade]
}

/** As the author wrote it; of an ATIP file, in full form. Where parameters are set, those that only the template names get elements. */
function definitionOf(loaded: LoadedTool, sets: readonly SetValue[]): unknown {
  const { file, path, tool } = loaded
  const written = valueAt(file.value, path)
  const item = isMap(written) && written.name === tool.expanded.name ? written : expandedFormOf(loaded)
  const parameters = Array.isArray(item.parameters) ? item.parameters : []
  if (!sets.some(({ path: [key, name] }) => key === 'parameters' && name !== undefined)) return item
  const added = tool.expanded.parameters.flatMap(({ name }) =>
    parameters.some((each: unknown) => isMap(each) && each.name === name) ? [] : [{ name }],
  )
  return { ...item, parameters: [...parameters, ...added] }
}
