import { delimiter, isAbsolute, resolve } from 'node:path'
import { realPath } from '../files/real-path.js'
import type { Findings } from '../findings.js'
import { tildeHint } from '../path.js'

/**
 * The directories from which an agent may import: its own, and what the person who runs it allows with
 * `--import-root` or `DELTA_IMPORT_ROOTS` (absolute paths, separated as in PATH).
 */
export function importRootsOf(
  home: string,
  {
    importRoots = [],
    environment,
  }: { importRoots?: readonly string[] | undefined; environment: NodeJS.ProcessEnv },
  findings: Findings,
): string[] {
  const fromEnvironment = (environment.DELTA_IMPORT_ROOTS ?? '')
    .split(delimiter)
    .filter((root) => root !== '')
  for (const root of fromEnvironment) {
    if (!isAbsolute(root))
      findings.error({ file: 'DELTA_IMPORT_ROOTS' }, `"${root}" is not an absolute path.`, tildeHint(root))
  }
  const roots = [home]
  for (const root of [...importRoots, ...fromEnvironment.filter(isAbsolute)]) {
    const path = realPath(resolve(root))
    if (path === undefined) findings.warn({ file: root }, 'The import root does not exist.', tildeHint(root))
    else roots.push(path)
  }
  return roots
}
