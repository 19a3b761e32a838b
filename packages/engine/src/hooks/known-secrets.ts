import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRedactor, type Redactor, redactFile } from '@delta/executor'
import type { ActiveRun } from '../active-run.js'
import { secretTokens } from '../human/secrets.js'

/** Takes out of what a hook says what no record may hold: the engine's keys, which it may see, and what a person entrusted to the run. */
export function knownSecrets(run: ActiveRun): Redactor {
  // an endpoint goes with a key, but is no secret
  const keys = Object.entries(run.credentials).filter(([name]) => !name.endsWith('_URL'))
  return createRedactor([
    ...keys.map(([, key]) => key),
    ...Object.values(secretTokens(run.run.paths.secrets)),
  ])
}

/** Takes them out of the files in a hook's `output/`, before anybody reads one. */
export function redactOutput(directory: string, known: Redactor): void {
  const output = join(directory, 'output')
  if (!known.active || !statSync(output, { throwIfNoEntry: false })?.isDirectory()) return
  for (const name of readdirSync(output)) {
    const path = join(output, name)
    if (lstatSync(path).isFile()) redactFile(path, known)
  }
}
