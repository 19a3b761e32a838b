import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, syncName } from '@delta/durable'

/**
 * Keeps a sensitive answer in `secrets/<action_id>` (0600) until the run ends. Model, journal and records see a token. The
 * value replaces the token only in the argv and stdin of a started process.
 */
export function keepSecret(directory: string, actionId: string, value: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, actionId), value)
  syncName(directory)
}

/** Secret values by token; empty when the run holds none. */
export function secretTokens(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {} // called before every command, and an exception is slow
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile()) // reading a pipe would block
  return Object.fromEntries(
    files.map(({ name }) => [secretToken(name), readFileSync(join(directory, name), 'utf8')]),
  )
}

/** Erases the sensitive answers. Called before the run's final `ENGINE_END`. */
export function eraseSecrets(directory: string): void {
  if (!existsSync(directory)) return // most runs have none
  rmSync(directory, { recursive: true, force: true })
  syncName(directory)
}

export function secretToken(actionId: string): string {
  return `«secret:${actionId}»`
}
