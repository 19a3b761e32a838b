import { formatPath, nearestNames, showValue, type ValuePath, valueAt } from '@delta/executor/internal'
import { type Finding, type Findings, maskSecrets, SET_FLAG, withoutSecrets } from './problems.js'
import { isMap, parseYaml, type YamlFile } from './yaml.js'

/** One `path=value`: it counts in place of what the agent's files say there. */
export interface SetValue {
  /** Names of keys and of list elements, outermost first; without those that the reader of this part has followed. */
  path: readonly string[]
  /** As written behind `=`. Empty: as if the key were missing. */
  written: string
  value: unknown
  /** Messages name the flag in place of a file and a line. */
  place: Finding
}

const LONGEST_SHOWN = 80
const MOST_NAMED = 10

/** Reads each `path=value`. The value is YAML. A value whose name says that it is secret is refused: a run records what was set. */
export function readSets(overrides: readonly string[], findings: Findings): SetValue[] {
  return overrides.flatMap((text) => readSet(text, findings) ?? [])
}

function readSet(text: string, findings: Findings): SetValue | undefined {
  const [key = ''] = text.split('=', 1)
  const path = key.split('.')
  const shown = placeNamed(withoutSecrets(text))
  if (key === text || path.includes('')) {
    const way = path.includes('') ? 'llm.model=NAME' : `${key}=VALUE`
    findings.error(shown, path.includes('') ? 'no path.' : 'no value.', `Write --set ${way}.`)
    return undefined
  }
  const written = text.slice(key.length + 1).trim()
  if (written === '') return { path, written, value: undefined, place: shown }
  const { problems, file } = parseYaml(written, { path: '', name: shown.file })
  for (const { message, hint } of problems) findings.error(shown, message, hint)
  if (file === undefined) return undefined
  const { value } = file
  if (JSON.stringify(maskSecrets(value, path.at(-1))) !== JSON.stringify(value)) {
    const way = path[0] === 'llm' ? 'Use DELTA_API_KEY.' : "Write it into the agent's files."
    findings.error(placeNamed(`${key}=…`), 'keys are never recorded.', way)
    return undefined
  }
  return { path, written, value, place: shown }
}

function placeNamed(text: string): Finding {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
  return { file: `${SET_FLAG}${line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line}` }
}

/** The sets below one key, seen from there. */
export function setsBelow(sets: readonly SetValue[], key: string): SetValue[] {
  return sets.filter(({ path }) => path[0] === key).map((set) => ({ ...set, path: set.path.slice(1) }))
}

/** A set, and where in the value it was made. */
interface Made {
  at: ValuePath
  set: SetValue
}

/**
 * Sets values in a part of a file; nothing given is changed.
 *
 * @param value - What stands at `base` of the file.
 * @returns the new value, and the file as it has to be asked for places from now on.
 */
export function setIn(
  value: unknown,
  file: YamlFile,
  base: ValuePath,
  sets: readonly SetValue[],
  findings: Findings,
): { value: unknown; file: YamlFile } {
  if (sets.length === 0) return { value, file }
  const made: Made[] = []
  let edited = value
  for (const set of sets) {
    const at = resolve(edited, set, findings)
    if (at === undefined) continue
    edited = replaceAt(edited, at, set)
    made.push({ at, set })
  }
  const inner = (path: ValuePath) => (startsWith(path, base) ? path.slice(base.length) : undefined)
  const setAt = (path: ValuePath) => {
    const at = inner(path)
    return at === undefined ? undefined : made.findLast((each) => explains(each, at, value))?.set
  }
  const locate: YamlFile['locate'] = (path, at) =>
    setAt(path)?.place ?? file.locate(asWritten(path, base, made), at)
  const written: YamlFile['written'] = (path) => {
    const exact = made.findLast(({ at }) => formatPath([...base, ...at]) === formatPath(path))
    return exact?.set.written ?? file.written(path)
  }
  const setBy: YamlFile['setBy'] = (path) => {
    const at = inner(path)
    const met = at && made.findLast((each) => startsWith(at, each.at) || startsWith(each.at, at))
    return met?.set.place ?? file.setBy?.(path)
  }
  return { value: edited, file: { ...file, locate, written, setBy } }
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
  const first = [...new Set([...nearestNames(name, known), ...known])].slice(0, MOST_NAMED)
  const rest = known.length > first.length ? ', …' : ''
  const title = `${list.slice(0, 1).toUpperCase()}${list.slice(1)}`
  const hint =
    known.length === 0 ? `There are no ${list} with a name.` : `${title}: ${first.join(', ')}${rest}.`
  findings.error(place, `no ${list.replace(/s$/, '')} "${name}".`, hint)
}

function replaceAt(value: unknown, [step, ...rest]: ValuePath, set: SetValue): unknown {
  if (step === undefined) return set.value
  const isRemoved = rest.length === 0 && set.written === ''
  if (Array.isArray(value)) {
    if (isRemoved) return value.filter((_, index) => index !== step)
    return value.map((item, index) => (index === step ? replaceAt(item, rest, set) : item))
  }
  const map = isMap(value) ? value : {}
  const others = Object.entries(map).filter(([key]) => key !== step)
  if (isRemoved) return Object.fromEntries(others)
  return { ...map, [step]: replaceAt(map[step], rest, set) }
}

/** Whether what is wrong at a place comes from a set: it is in the value, in a map made for it, or misses what was removed. */
function explains({ at, set }: Made, path: ValuePath, original: unknown): boolean {
  if (startsWith(path, at)) return true
  if (!startsWith(at, path)) return false
  const isParent = at.length === path.length + 1
  return (set.written === '' && isParent) || valueAt(original, path) === undefined
}

/** The path in the file of what has moved up in its list, because an element before it was removed. */
function asWritten(path: ValuePath, base: ValuePath, made: readonly Made[]): ValuePath {
  return made.toReversed().reduce((now, { at, set }) => {
    const index = at.at(-1)
    const list = [...base, ...at.slice(0, -1)]
    const there = now[list.length]
    const hasMoved =
      set.written === '' &&
      typeof index === 'number' &&
      typeof there === 'number' &&
      there >= index &&
      startsWith(now, list)
    return hasMoved ? [...list, there + 1, ...now.slice(list.length + 1)] : now
  }, path)
}

function startsWith(path: ValuePath, beginning: ValuePath): boolean {
  return beginning.every((segment, index) => segment === path[index])
}
