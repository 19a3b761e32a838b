import { constants, type Dirent } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, realpath, rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '@delta/durable/internal'
import picomatch from 'picomatch'
import { copyTree } from './inputs.js'

/** What a scorer's copy may hold. */
const MOST_BYTES = 2e9

/** The agent left more than a copy may hold. */
export class CopyTooLarge extends Error {}

interface Sources {
  /** The agent's workspace. */
  workspace: string
  /** The template of the task. */
  template: string
  /** The hidden tests of the task. */
  tests: string
  /** Globs of what counts of the workspace; undefined: everything. */
  take: readonly string[] | undefined
}

/**
 * Fills a directory with what a scorer gets: the agent's files, or with `take` a fresh template and those of the agent's files;
 * the tests last, so that they win.
 *
 * `.delta`, sockets, pipes, devices, links that lead out and what cannot be read are left out; with `take` every link.
 *
 * @throws {CopyTooLarge}
 */
export async function copyForScorer(
  to: string,
  { workspace, template, tests, take }: Sources,
): Promise<void> {
  if (take !== undefined) await copyTree(template, to)
  const isTaken = take === undefined ? undefined : picomatch([...take], { dot: true })
  const copy: Copy = { workspace: await realpath(workspace), to, isTaken, bytes: 0 }
  await addDirectory('', copy)
  await layOver(tests, to)
}

interface Copy {
  workspace: string
  to: string
  isTaken: ((path: string) => boolean) | undefined
  bytes: number
}

async function addDirectory(path: string, copy: Copy): Promise<void> {
  const entries = await readdir(join(copy.workspace, path), { withFileTypes: true })
  for (const entry of entries) {
    if (entry.name === '.delta') continue
    await addEntry(path === '' ? entry.name : `${path}/${entry.name}`, entry, copy).catch(leaveOut)
  }
}

/** An agent may leave what cannot be copied: it is the agent's loss, and no end of the evaluation. */
const NOT_COPIED = new Set(['EACCES', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM'])

function leaveOut(error: NodeJS.ErrnoException): void {
  if (!NOT_COPIED.has(error.code ?? '')) throw error
}

async function addEntry(path: string, entry: Dirent, copy: Copy): Promise<void> {
  const { workspace, to, isTaken } = copy
  if (entry.isDirectory()) {
    if (isTaken === undefined) await mkdir(join(to, path), { recursive: true })
    return addDirectory(path, copy)
  }
  if (entry.isSymbolicLink()) {
    if (isTaken === undefined) await addLink(path, copy)
    return
  }
  if (!entry.isFile() || isTaken?.(path) === false) return
  copy.bytes += (await lstat(join(workspace, path))).size
  if (copy.bytes > MOST_BYTES) throw new CopyTooLarge()
  await clear(to, path)
  await copyFile(join(workspace, path), join(to, path), constants.COPYFILE_FICLONE)
}

/** A link that stays within the workspace. */
async function addLink(path: string, { workspace, to }: Copy): Promise<void> {
  const target = await readlink(join(workspace, path))
  const meant = resolve(dirname(join(workspace, path)), target)
  const real = await realpath(meant).catch(() => undefined) // it leads nowhere, and so not out
  if (target.startsWith('/') || !isInside(real ?? meant, workspace)) return
  await symlink(target, join(to, path))
}

async function layOver(tests: string, to: string, path = ''): Promise<void> {
  for (const entry of await readdir(join(tests, path), { withFileTypes: true })) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`
    if (entry.isDirectory()) {
      if (!(await isRealDirectory(join(to, inner)))) await clear(to, inner, { makes: 'directory' })
      await layOver(tests, to, inner)
    } else {
      await clear(to, inner)
      if (entry.isSymbolicLink()) await symlink(await readlink(join(tests, inner)), join(to, inner))
      else await copyFile(join(tests, inner), join(to, inner), constants.COPYFILE_FICLONE)
    }
  }
}

/** Makes room for an entry: its directories are real ones, and nothing has its name. */
async function clear(
  to: string,
  path: string,
  { makes = 'file' }: { makes?: 'file' | 'directory' } = {},
): Promise<void> {
  const above = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= above.length; depth++) {
    const directory = join(to, ...above.slice(0, depth))
    if (await isRealDirectory(directory)) continue
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory)
  }
  await rm(join(to, path), { recursive: true, force: true })
  if (makes === 'directory') await mkdir(join(to, path))
}

async function isRealDirectory(path: string): Promise<boolean> {
  const what = await lstat(path).catch(() => undefined)
  return what?.isDirectory() ?? false
}
