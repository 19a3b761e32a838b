import { computed, effect, signal } from '@preact/signals'
import type { RunList, RunRow } from '../src/api.js'
import { type Address, formatAddress, parseAddress } from './address.js'
import { get, RouteError } from './client.js'
import { file } from './file.js'

/** What is shown; it follows the address bar. */
export const address = signal<Address>(parseAddress(''))

/** Goes to another view. `replace`: Back leads past this one, as for moves within a view. */
export function go(to: Address, { replace = false } = {}): void {
  const hash = formatAddress(to)
  if (hash !== location.hash) history[replace ? 'replaceState' : 'pushState'](null, '', hash)
  address.value = to
}

export function followAddressBar(): void {
  const read = () => {
    address.value = parseAddress(location.hash)
  }
  window.addEventListener('popstate', read)
  window.addEventListener('hashchange', read)
  read()
}

export type Theme = 'light' | 'dark' | undefined

const THEME = 'delta-view-theme'

/** Undefined: as the system has it. */
const theme = signal<Theme>((localStorage.getItem(THEME) as Theme) ?? undefined)

effect(() => {
  if (theme.value === undefined) {
    delete document.documentElement.dataset.theme
    localStorage.removeItem(THEME)
  } else {
    document.documentElement.dataset.theme = theme.value
    localStorage.setItem(THEME, theme.value)
  }
})

/** The other one; and back to the system's when that is the same. */
export function switchTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  const next = (theme.value ?? system) === 'dark' ? 'light' : 'dark'
  theme.value = next === system ? undefined : next
}

/** The time of day, each second; in an exported file, when it was made. */
export const now = signal(file?.head.at ?? Date.now())
if (!file)
  setInterval(() => {
    now.value = Date.now()
  }, 1000)

/** A sentence at the foot of the page: what was copied, or what went wrong. */
export const notice = signal('')
let noticeTimer: ReturnType<typeof setTimeout> | undefined

export function say(sentence: string): void {
  notice.value = sentence
  clearTimeout(noticeTimer)
  noticeTimer = setTimeout(() => {
    notice.value = ''
  }, 6000)
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(`Copied: ${text}`)
  } catch {
    say(text) // no clipboard here: then it can be read and selected
  }
}

/** True while the list of keys is open. */
export const isHelpOpen = signal(false)

/** Two panes side by side. Below that the inspector is a page of its own. */
const wide = matchMedia('(min-width: 1000px)')
export const isWide = signal(wide.matches)
wide.addEventListener('change', () => {
  isWide.value = wide.matches
})

const rows = signal<ReadonlyMap<string, RunRow>>(new Map())
/** Null until the first answer. */
export const runsProblem = signal<string | null>(null)
export const areRunsLoaded = signal(false)
/** All runs, newest first. */
export const runs = computed(() =>
  [...rows.value.values()].sort((one, other) => (other.startedAt ?? 0) - (one.startedAt ?? 0)),
)

const EVERY_MS = 2000

/** Asks for the runs that changed, every two seconds while the page is in view; in an exported file, once. */
export async function watchRuns(): Promise<void> {
  let since: number | undefined
  for (;;) {
    try {
      const path = since === undefined ? '/api/runs' : `/api/runs?since=${since}`
      const list = await get<RunList>(path)
      if (list.runs.length > 0 || since === undefined)
        rows.value = merged(since === undefined ? [] : rows.value, list)
      since = list.since
      areRunsLoaded.value = true
      runsProblem.value = null
    } catch (error) {
      runsProblem.value = explain(error)
      if (error instanceof RouteError && error.status === 401) since = undefined
    }
    if (file) return
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    if (document.hidden)
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
  }
}

function merged(before: Iterable<[string, RunRow]>, { runs: changed }: RunList): Map<string, RunRow> {
  const all = new Map(before)
  for (const row of changed) all.set(row.key, row)
  return all
}

/** An error as a sentence for people. */
export function explain(error: unknown): string {
  if (error instanceof RouteError && error.status === 401)
    return 'This address lacks its token. Open the address that `delta view` printed.'
  return error instanceof Error ? error.message : String(error)
}
