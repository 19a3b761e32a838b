import type { Credentials, Pair } from '@delta/executor/internal'
import {
  type KeySettings,
  SHARED_KEY,
  SHARED_URL,
  type Vendor,
  vendorIdOf,
  vendorOfProvider,
} from '@delta/model/vendors'
import type { Finding } from './problems.js'

/** Who could write a value. `workspace` and `project` may come from a clone or from tools. */
export type Writer = 'workspace' | 'agent' | 'project' | 'environment'

/** A file, the agent's own settings or the environment, with the variables that count in it. */
export interface Source {
  of: Writer
  /** Path of the file, `environment`, or `--set`. */
  from: string
  values: Readonly<Record<string, string | undefined>>
  /** Where the file sets each variable. */
  places: Readonly<Record<string, Finding>>
  /** SHA-256 of the file's content. */
  digest: string
  /** True if the tools of a run above may have written it. */
  isOfTools: boolean
  /** The source whose keys stand beside an address here, in the same directory and not behind a link. */
  beside?: string | undefined
}

/** A variable of a source. */
export interface Found extends Omit<Source, 'values' | 'places'> {
  name: string
  value: string
  place: Finding
}

/** The agent's own address, among the variables. */
export const LLM_BASE_URL = 'llm.base_url'

/** Whose key is looked for, and by which variables. */
export interface Wanted {
  /** The `id` of a vendor, or the variable that `llm.api_key_env` names. */
  vendor: string
  /** In rows: one is looked for in all sources before the next; in one source, the first of a row counts. */
  keys: readonly (readonly string[])[]
  urls: readonly string[]
}

/** What the agent itself looks for. */
export function wantedBy(llm: KeySettings): Wanted {
  const { key, urlNames } = vendorOfProvider(llm.provider)
  const keys = llm.apiKeyEnv === undefined ? [[SHARED_KEY, key]] : [[llm.apiKeyEnv], [SHARED_KEY]]
  return { vendor: vendorIdOf(llm), keys, urls: [SHARED_URL, ...urlNames, LLM_BASE_URL] }
}

/** What is looked for of a vendor that the agent does not use itself: only what bears its name. */
export function wantedOf({ id, key, urlNames }: Vendor): Wanted {
  return { vendor: id, keys: [[key]], urls: urlNames }
}

/** What an agent uses: found by itself, or the pair of the run above. */
export interface Choice {
  key: Found | undefined
  url: Found | undefined
  /** The pair of the run above, if it is used. A `key` beside it is the workspace's, and goes where the pair's would go. */
  row: Pair | undefined
  /** Why the address must not be used. `ask`: nobody said yes to its file; `stray`: the tools of a run above may have written it. */
  doubt: 'ask' | 'stray' | undefined
}

/**
 * Chooses the key and the address of an agent's model, together. `docs/reference/environment.md` says the same in words.
 *
 * @param own - What counts for this agent, in its order.
 * @param above - The credentials of the run above: empty without one.
 */
export function choose(wanted: Wanted, own: readonly Source[], above: Credentials): Choice {
  const { vendor, keys, urls } = wanted
  const row = above.pairs.find((pair) => pair.vendor === vendor && (pair.key ?? pair.address) !== undefined)
  const [ownKey, ownUrl] = [firstKey(own, keys), first(own, urls)]
  const isRowsKey = ownKey === undefined || ownKey.value === row?.key || ownKey.of === 'workspace'
  if (row && isRowsKey && (ownUrl === undefined || ownUrl.value === row.address))
    return { key: ownKey?.value === row.key ? undefined : ownKey, url: undefined, row, doubt: undefined }

  const exported = [environment(above.env)]
  const key = ownKey ?? firstKey(exported, keys)
  const url = ownUrl ?? first(exported, urls)
  return { key, url, row: undefined, doubt: url && doubtOf(url, key, row) }
}

function doubtOf(url: Found, key: Found | undefined, row: Pair | undefined): Choice['doubt'] {
  const hasOwnKey = key !== undefined && key.from === url.beside
  const isKeyless = key === undefined && row?.key === undefined
  if (url.isOfTools && !hasOwnKey && !(isKeyless && isLoopback(url.value))) return 'stray'
  return url.of === 'workspace' || url.of === 'project' ? 'ask' : undefined
}

/** The exported variables as a source. */
export function environment(values: Source['values']): Source {
  return { of: 'environment', from: 'environment', values, places: {}, digest: '', isOfTools: false }
}

function firstKey(sources: readonly Source[], rows: readonly (readonly string[])[]): Found | undefined {
  return rows.map((names) => first(sources, names)).find((found) => found !== undefined)
}

/** The order of the sources comes before that of the names. An empty value counts as missing. */
function first(sources: readonly Source[], names: readonly string[]): Found | undefined {
  for (const { values, places, ...source } of sources) {
    const name = names.find((each) => values[each])
    const value = name && values[name]
    if (name && value) return { ...source, name, value, place: places[name] ?? { file: source.from } }
  }
  return undefined
}

/** True for a URL whose host is this machine: `localhost`, names under it, 127.0.0.0/8, `[::1]`. */
function isLoopback(url: string): boolean {
  const { hostname = '', username = '' } = URL.canParse(url) ? new URL(url) : {}
  return username === '' && /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
