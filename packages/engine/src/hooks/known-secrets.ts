import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRedactor, type Redactor, redactFile } from '@delta/executor'
import { secretTokens } from '../human.js'
import type { RunState } from '../run-state.js'

/** Redacts from a hook's output what no record may hold: the engine's keys, which hooks may see, and the run's secrets. */
export function knownSecrets(state: RunState): Redactor {
  // the base URL is passed like a key, but is not secret
  const keys = Object.entries(state.credentials).filter(([name]) => !name.endsWith('_URL'))
  return createRedactor([
    ...keys.map(([, key]) => key),
    ...Object.values(secretTokens(state.run.paths.secrets)),
  ])
}

/** Redacts the files in a hook's `output/`, before anything reads them. */
export function redactOutput(directory: string, known: Redactor): void {
  const output = join(directory, 'output')
  if (!known.active || !statSync(output, { throwIfNoEntry: false })?.isDirectory()) return
  for (const name of readdirSync(output)) {
    const path = join(output, name)
    if (lstatSync(path).isFile()) redactFile(path, known)
  }
}
