import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, syncName } from '@delta/durable'

/**
 * Sensitive answers live in `secrets/<action_id>` (0600) while their run does. Model, journal and records see a token;
 * the value replaces it in argv and stdin when a process is started, and nowhere else.
 */
export function keepSecret(directory: string, actionId: string, value: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, actionId), value)
  syncName(directory)
}

/** Values by the token that stands for them; empty when the run holds none. */
export function secretTokens(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {} // asked before every command: an exception costs more than the rest of it
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile()) // a pipe would be waited for
  return Object.fromEntries(
    files.map(({ name }) => [secretToken(name), readFileSync(join(directory, name), 'utf8')]),
  )
}

/** Erases the answers; called before the run's final `ENGINE_END`. */
export function eraseSecrets(directory: string): void {
  if (!existsSync(directory)) return // most runs have none
  rmSync(directory, { recursive: true, force: true })
  syncName(directory)
}

export function secretToken(actionId: string): string {
  return `«secret:${actionId}»`
}
