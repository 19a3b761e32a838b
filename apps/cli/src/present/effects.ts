import type { Effects } from '@delta/executor'

/** Declared effects in words; `-` if none are declared. */
function effectsOf(effects: Effects | undefined): string {
  if (effects === undefined || Object.keys(effects).length === 0) return '-'
  const { filesystem, network, destructive, reversible, cost, creates, modifies, deletes } = effects
  const { stdin = 'none', prompts = false, tty = false } = effects.interactive ?? {}
  const words = [
    filesystem?.write || creates?.length || modifies?.length ? 'writes files' : '',
    filesystem?.delete || deletes?.length ? 'deletes files' : '',
    network ? 'network' : '',
    destructive ? 'destructive' : '',
    reversible === false ? 'not reversible' : '',
    cost?.billable ? 'billable' : '',
    stdin === 'required' || stdin === 'password' || prompts || tty ? 'interactive' : '',
  ].filter(Boolean)
  return words.length === 0 ? 'none of note' : words.join(', ')
}

/** The same; what an import says in place of the imported file, with where it says so: `destructive: no (agent.yaml:12)`. */
export function effectsWithPlaces(
  effects: Effects | undefined,
  places: Readonly<Record<string, string>>,
): string {
  const entries = Object.entries(effects ?? {})
  const own = entries.filter(([key]) => Object.hasOwn(places, key))
  if (own.length === 0) return effectsOf(effects)
  const others = effectsOf(Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(places, key))))
  const said = own.map(([key, value]) => `${key}: ${inWords(value)} (${places[key]})`)
  return [...said, ...(/^(?:-|none of note)$/.test(others) ? [] : [others])].join(', ')
}

function inWords(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : JSON.stringify(value)
}

/** The same as a line of a question to a person: a claim that nobody has checked. */
export function claimOf(effects: Effects | undefined): string {
  const words = effectsOf(effects)
  return `Effects it declares: ${words === '-' ? 'none' : words}`
}
