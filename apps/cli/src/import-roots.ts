import { resolve } from 'node:path'
import type { Terminal } from './terminal.js'

/** `--import-root` and `DELTA_IMPORT_ROOTS` (separated by `:`), as absolute paths. */
export function importRoots(flags: { importRoot: string[] }, terminal: Terminal): string[] {
  const fromEnvironment = (terminal.env.DELTA_IMPORT_ROOTS ?? '').split(':').filter(Boolean)
  return [...flags.importRoot, ...fromEnvironment].map((root) => resolve(terminal.cwd, root))
}
