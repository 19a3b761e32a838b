import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { isReadableDirectory } from './is-readable-directory.js'
import { readWorkspaces } from './known-workspaces.js'
import { existingWorkDirectoryOf } from './work-directory.js'

export interface NamedWorkspace {
  /** As it can be typed after `-w`. */
  shown: string
  /** Its absolute path. Throws if there is no such directory, or none that matches. */
  open(): string
}

const PATTERN = /[*?[]/

/**
 * The workspaces that `-w` names: one, or all that a pattern such as `exp/*` matches, in the order of their names. `*`, `?`
 * and `[…]` stand for letters of one name. Only a workspace whose runs are in its `.delta`, or known to be kept elsewhere, is a match.
 */
export function workspacesNamed(workDir: string, terminal: Terminal): NamedWorkspace[] {
  const named = (shown: string) => ({
    shown,
    open: () => existingWorkDirectoryOf({ workDir: shown }, terminal),
  })
  if (!PATTERN.test(workDir) || existsSync(resolve(terminal.cwd, workDir))) return [named(workDir)]
  const isAbsolute = workDir.startsWith('/')
  const parts = workDir.split('/').filter((part) => part !== '')
  const { known } = readWorkspaces(terminal.env)
  const holdsRuns = (path: string) => existsSync(join(path, '.delta')) || known(path) !== undefined
  const found = matches(isAbsolute ? '/' : '', parts, terminal.cwd).filter((path) =>
    holdsRuns(resolve(terminal.cwd, path)),
  )
  return found.length > 0 ? found.map(named) : [{ shown: workDir, open: () => refuseNone(workDir) }]
}

function refuseNone(workDir: string): never {
  throw new UsageError(`-w ${workDir}: no workspace matches. A workspace is a directory with .delta in it.`)
}

function matches(above: string, [part, ...rest]: readonly string[], cwd: string): string[] {
  if (part === undefined) return [above]
  if (!PATTERN.test(part)) return matches(join(above, part), rest, cwd)
  const directory = resolve(cwd, above)
  if (!isReadableDirectory(directory)) return []
  const pattern = expressionFor(part)
  return readdirSync(directory)
    .filter((name) => pattern.test(name) && (part.startsWith('.') || !name.startsWith('.')))
    .sort()
    .flatMap((name) => matches(join(above, name), rest, cwd))
}

/** A bracket that is not closed stands for itself. */
function expressionFor(pattern: string): RegExp {
  const source = pattern.replace(/\[[!^]?[^\]]+\]|[*?]|[\\^$.|+(){}[\]]/g, (found) => {
    if (found === '*') return '.*'
    if (found === '?') return '.'
    if (found.length === 1) return `\\${found}`
    return found.replaceAll('\\', '\\\\').replace(/^\[[!^]/, '[^')
  })
  return new RegExp(`^${source}$`, 'su')
}
