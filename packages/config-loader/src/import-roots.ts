import { realpath } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'
import type { Findings } from './findings.js'

/**
 * The directories from which an agent may import: its own, and what the person who runs it allows with
 * `--import-root` or `DELTA_IMPORT_ROOTS` (absolute paths, separated as in PATH).
 */
export async function importRootsOf(
  home: string,
  { importRoots = [], environment }: { importRoots?: readonly string[]; environment: NodeJS.ProcessEnv },
  findings: Findings,
): Promise<string[]> {
  const fromEnvironment = (environment.DELTA_IMPORT_ROOTS ?? '')
    .split(delimiter)
    .filter((root) => root !== '')
  for (const root of fromEnvironment) {
    if (!isAbsolute(root))
      findings.error({ file: 'DELTA_IMPORT_ROOTS' }, `"${root}" is not an absolute path.`)
  }
  const roots = [home]
  for (const root of [...importRoots, ...fromEnvironment.filter(isAbsolute)]) {
    try {
      roots.push(await realpath(resolve(root)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      findings.warn({ file: root }, 'The import root does not exist.')
    }
  }
  return roots
}
