import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import picomatch from 'picomatch'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { existingWorkDirectoryOf, readWorkspaces } from './find-place.js'

export interface NamedWorkspace {
  /** As it can be typed after `-w`. */
  shown: string
  /** Its absolute path. Throws if there is no such directory, or none that matches. */
  open(): string
}

const PATTERN = /[*?[]/

/**
 * The workspaces that `-w` names: one, or all that a pattern such as `exp/*` matches, in the order of their names. Each
 * part of a pattern stands for one name. Only a workspace whose runs are in its `.delta`, or known to be kept elsewhere, is a match.
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
  const isMatch = picomatch(part, { posix: true })
  return namesIn(resolve(cwd, above))
    .filter((name) => isMatch(name))
    .sort()
    .flatMap((name) => matches(join(above, name), rest, cwd))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // not a directory, or not readable
  }
}
