import type { Effects } from '@delta/executor'

/** `1 message`, `2 messages`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** `12 ms`, `3.4 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${Math.floor(milliseconds / 100) / 10} s`
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1000)} s`
}

/** How long ago something was, in one unit: `5s`, `3m`, `2h`, `4d`; `?` for no time. Never negative, whatever the clock did. */
export function age(then: number, now: number): string {
  if (Number.isNaN(then)) return '?' // a timestamp that somebody edited
  const seconds = Math.max(0, Math.floor((now - then) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

/** Declared effects in words; `-` if none are declared. */
export function effectsOf(effects: Effects | undefined): string {
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

/** The same as a line of a question to a person: a claim that nobody has checked. */
export function claimOf(effects: Effects | undefined): string {
  const words = effectsOf(effects)
  return `Effects it declares: ${words === '-' ? 'none' : words}`
}
