import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@delta/journal'
import type { ReadyCall } from '../call.js'

/**
 * Sensitive answers live in `secrets/<action_id>` (0600) while their run does. Model, journal and records see a token;
 * the value replaces it in argv and stdin when a process is started, and nowhere else.
 */
export function keepSecret(directory: string, actionId: string, value: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, actionId), value, { mode: 0o600, durable: true })
}

/** Values by action id; empty when the run holds none. */
export function readSecrets(directory: string): Map<string, string> {
  try {
    return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}

/** Erases the answers; called before the run's final `ENGINE_END`. */
export function eraseSecrets(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

export function secretToken(actionId: string): string {
  return `«secret:${actionId}»`
}

/** The call as it is started: tokens replaced by values. Only for spawning, never for a record. */
export function reveal(prepared: ReadyCall, secrets: ReadonlyMap<string, string>): ReadyCall {
  if (secrets.size === 0) return prepared
  const show = (text: string): string => {
    let shown = text
    for (const [actionId, value] of secrets) shown = shown.replaceAll(secretToken(actionId), () => value)
    return shown
  }
  const stdin = prepared.stdin === undefined ? {} : { stdin: show(prepared.stdin) }
  return { ...prepared, argv: prepared.argv.map(show), ...stdin }
}
