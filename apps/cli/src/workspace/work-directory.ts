import { existsSync, readlinkSync, statSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { explainSystemError } from '../terminal/system-error.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError, unreadableBytes } from '../usage.js'

/** `-w` as an absolute path, which need not exist. A path that nobody can mean is refused. */
export function namedDirectory(workDir: string, terminal: Terminal): string {
  const directory = pathAsTyped('-w', workDir, terminal)
  const records = directory.split(sep).indexOf('.delta')
  if (records === -1) return directory
  const workspace = directory.split(sep).slice(0, records).join(sep) || sep
  throw new UsageError(
    `-w ${workDir}: it is not a workspace: .delta holds the records of one. Name the workspace itself: ${quoteForPerson(['-w', workspace])}`,
  )
}

/** The absolute path that was typed after a flag. */
export function pathAsTyped(flag: string, path: string, { cwd }: Terminal): string {
  if (path.startsWith('~'))
    throw new UsageError(
      `${flag} ${path}: the shell did not expand the "~", as within quotes or after "=". Write "$HOME" instead.\nFor a directory of that name, write ./${path}`,
    )
  const bytes = unreadableBytes(path)
  if (bytes !== undefined) throw new UsageError(`${flag} ${path}: ${bytes}`)
  return resolve(cwd, path)
}

/** `-w` of a command that does not create it: a missing directory has no runs, a file is a mistake. */
export function workDirectoryOf({ workDir }: { workDir: string }, terminal: Terminal): string {
  const directory = namedDirectory(workDir, terminal)
  try {
    if (statSync(directory).isDirectory()) return directory
  } catch (cause) {
    const link = danglingLink(directory)
    if (link !== undefined) throw new UsageError(`-w ${workDir}: ${link}`, { cause })
    // not throwIfNoEntry: since Node.js 22 it also treats a path below a file as missing
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return directory
    throw new UsageError(`-w ${workDir}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
  throw new UsageError(`-w ${workDir}: it is a file, not a directory.`)
}

/** `-w` of a command that needs an existing workspace. */
export function existingWorkDirectoryOf(flags: { workDir: string }, terminal: Terminal): string {
  const directory = workDirectoryOf(flags, terminal)
  if (existsSync(directory)) return directory
  let nearest = dirname(directory)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  throw new UsageError(
    `-w ${flags.workDir}: there is no such directory. The nearest that exists is ${nearest}`,
  )
}

/** What to say of a dangling symbolic link, which the system reports as missing, or as in the way. */
export function danglingLink(path: string): string | undefined {
  const target = existsSync(path) ? undefined : targetOf(path)
  if (target === undefined) return undefined
  return `${path} is a symbolic link to ${target}, and that does not exist.\nCreate that directory, or name another one.`
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or missing
  }
}
