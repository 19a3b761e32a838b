import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The workspaces that were created without `-w`, oldest first; none if the directory does not exist. */
export function workspacesIn(home: string): string[] {
  try {
    return readdirSync(home)
      .filter((name) => /^W\d{3,}$/.test(name))
      .sort(byNumber)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1))
}

/** The one that was used last, if that is known; it may be gone. */
export function lastUsedIn(home: string): string | undefined {
  try {
    return readFileSync(join(home, 'LAST_USED'), 'utf8').trim()
  } catch {
    return undefined // only a convenience, whatever the error
  }
}
