/** What the address bar says is shown. Every view has an address, so it can be linked, and Back works. */
export type Address =
  | { screen: 'runs'; filter: string; sort: string }
  | {
      screen: 'run'
      key: string
      step?: number
      tab: Tab
      view?: 'cost'
      by?: CostTab
      search?: string
      call?: string
    }
  | { screen: 'diff'; a: string; b: string }

export const TABS = ['context', 'request', 'response', 'files', 'output', 'journal'] as const
export type Tab = (typeof TABS)[number]

export const COST_TABS = ['source', 'step', 'tool', 'model'] as const
export type CostTab = (typeof COST_TABS)[number]

/** Reads the fragment of the page's URL. What it does not know is the list of runs. */
export function parseAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const words = new URLSearchParams(query)
  const [screen, one, kind, number] = path.split('/').slice(1).map(decoded)
  if (screen === 'run' && one) return runAddress(one, kind, number, words)
  if (screen === 'diff' && one && kind) return { screen: 'diff', a: one, b: kind }
  return { screen: 'runs', filter: words.get('filter') ?? '', sort: words.get('sort') ?? '' }
}

function runAddress(
  key: string,
  kind: string | undefined,
  number: string | undefined,
  words: URLSearchParams,
): Address {
  const step = kind === 'step' && /^\d{1,9}$/.test(number ?? '') ? Number(number) : undefined
  const tab = TABS.find((each) => each === words.get('tab')) ?? 'context'
  const by = COST_TABS.find((each) => each === words.get('by'))
  const [search, call] = [words.get('search'), words.get('call')]
  return {
    screen: 'run',
    key,
    tab,
    ...(step !== undefined && { step }),
    ...(kind === 'cost' && { view: 'cost' as const, ...(by && { by }) }),
    ...(search !== null && { search }),
    ...(call !== null && { call }),
  }
}

/** The fragment for an address: `parseAddress` gives the same address back. */
export function formatAddress(address: Address): string {
  const words = new URLSearchParams()
  if (address.screen === 'runs') {
    if (address.filter) words.set('filter', address.filter)
    if (address.sort) words.set('sort', address.sort)
    return withQuery('#/', words)
  }
  if (address.screen === 'diff')
    return `#/diff/${encodeURIComponent(address.a)}/${encodeURIComponent(address.b)}`
  const { key, step, tab, view, by, search, call } = address
  if (tab !== 'context') words.set('tab', tab)
  if (by !== undefined) words.set('by', by)
  if (search !== undefined) words.set('search', search)
  if (call !== undefined) words.set('call', call)
  const place = view === 'cost' ? '/cost' : step === undefined ? '' : `/step/${step}`
  return withQuery(`#/run/${encodeURIComponent(key)}${place}`, words)
}

function withQuery(path: string, words: URLSearchParams): string {
  const query = words.toString()
  return query === '' ? path : `${path}?${query}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // not written by this page
  }
}
