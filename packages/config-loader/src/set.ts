import { formatPath, nearestNames, showValue, type ValuePath, valueAt } from '@delta/settings'
import { type Node, Scalar } from 'yaml'
import { type Finding, type Findings, maskSecrets, SET_FLAG, withoutSecrets } from './problems.js'
import { isMap, parseYaml, replaceIn, resolveAliases, type YamlFile } from './yaml.js'

/** One `path=value`, which replaces what the agent's files say there. */
export interface SetValue {
  /** Names of keys and list elements below the part that is being read, outermost first. */
  path: readonly string[]
  /** The text after `=`. Empty: removes the key. */
  written: string
  value: unknown
  /** The value as it goes into the document. Absent: the key is removed. */
  node?: Node
  /** Names the flag instead of a file and a line. */
  place: Finding
}

const MAX_SHOWN_LENGTH = 80
const MAX_NAMES = 10

/** Reads each `path=value`; the value is YAML. Refuses secrets, because a run records what was set. */
export function readSets(overrides: readonly string[], findings: Findings): SetValue[] {
  return overrides.flatMap((text) => readSet(text, findings) ?? [])
}

function readSet(text: string, findings: Findings): SetValue | undefined {
  const [key = ''] = text.split('=', 1)
  const path = key.split('.')
  const shown = placeNamed(withoutSecrets(text))
  if (key === text || path.includes('')) {
    const [message, form] = path.includes('') ? ['no path.', 'llm.model=NAME'] : ['no value.', `${key}=VALUE`]
    findings.error(shown, message, `Write --set ${form}.`)
    return undefined
  }
  const written = text.slice(key.length + 1).trim()
  if (written === '') return { path, written, value: undefined, place: shown }
  const { problems, file } = parseYaml(written, { path: '', name: shown.file })
  for (const { message, hint } of problems) findings.error(shown, message, hint)
  if (file === undefined) return undefined
  const { value } = file
  if (JSON.stringify(maskSecrets(value, path.at(-1))) !== JSON.stringify(value)) {
    const hint = path[0] === 'llm' ? 'Use DELTA_API_KEY.' : "Write it into the agent's files."
    findings.error(placeNamed(`${key}=…`), 'keys are never recorded.', hint)
    return undefined
  }
  resolveAliases(file.document)
  const node = file.document.contents ?? new Scalar(null)
  return { path, written, value, node, place: shown }
}

function placeNamed(text: string): Finding {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
  return {
    file: `${SET_FLAG}${line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line}`,
  }
}

/** The sets below a key, with paths from there. */
export function setsBelow(sets: readonly SetValue[], key: string): SetValue[] {
  return sets.filter(({ path }) => path[0] === key).map((set) => ({ ...set, path: set.path.slice(1) }))
}

/** Sets values in a part of a file, whose document is edited: places follow. */
export function setIn(file: YamlFile, base: ValuePath, sets: readonly SetValue[], findings: Findings): void {
  for (const set of sets) {
    const at = resolve(valueAt(file.value, base), set, findings)
    if (at !== undefined) replaceIn(file, [...base, ...at], set.node, set.place)
  }
}

/** Names of list elements become indexes. */
function resolve(value: unknown, { path, place }: SetValue, findings: Findings): ValuePath | undefined {
  const found: (string | number)[] = []
  let at = value
  for (const name of path) {
    if (Array.isArray(at)) {
      const names = at.map(nameOf)
      const index = names.indexOf(name)
      if (index === -1) {
        reportNoElement(name, names, { list: String(found.at(-1) ?? path[0]), place }, findings)
        return undefined
      }
      found.push(index)
      at = at[index]
    } else if (isMap(at) || at === undefined || at === null) {
      found.push(name)
      at = isMap(at) && Object.hasOwn(at, name) ? at[name] : undefined
    } else {
      findings.error(place, `${formatPath(found)} is ${showValue(at)}: there is no "${name}" in it.`)
      return undefined
    }
  }
  return found
}

function nameOf(item: unknown): unknown {
  return isMap(item) ? (item.name ?? item.id) : undefined
}

/** `no tool "bsh". Tools: bash, edit.` */
export function reportNoElement(
  name: string,
  names: readonly unknown[],
  { list, place }: { list: string; place: Finding },
  findings: Findings,
): void {
  const known = names.filter((each) => typeof each === 'string')
  const first = [...new Set([...nearestNames(name, known), ...known])].slice(0, MAX_NAMES)
  const rest = known.length > first.length ? ', …' : ''
  const title = `${list.slice(0, 1).toUpperCase()}${list.slice(1)}`
  const hint =
    known.length === 0 ? `There are no ${list} with a name.` : `${title}: ${first.join(', ')}${rest}.`
  findings.error(place, `no ${list.replace(/s$/, '')} "${name}".`, hint)
}
