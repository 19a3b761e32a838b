import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface TemporaryWorkspace {
  /** Absolute, without symbolic links. */
  readonly path: string
  /** Writes a file, with its directories. Text that starts with `#!` becomes executable. */
  write(name: string, content: string | Uint8Array): Promise<string>
  read(name: string): Promise<string>
  /** The files in it, sorted, with `/`; directories are not listed. */
  files(): Promise<string[]>
  has(name: string): boolean
  remove(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface WorkspaceOptions {
  /** Called with the clean-up, for example vitest's `onTestFinished`. */
  readonly onCleanup?: (remove: () => Promise<void>) => void
}

/** The temporary workspaces that are still there. */
export const temporaryPaths = new Set<string>()
const removalListeners: ((path: string) => void)[] = []

/** Calls back with the path of each temporary workspace before its files go. */
export function onRemoval(listener: (path: string) => void): void {
  removalListeners.push(listener)
}

export function tellRemoval(path: string): void {
  for (const listener of removalListeners) listener(path)
}

process.on('exit', () => {
  for (const path of temporaryPaths) rmSync(path, { recursive: true, force: true })
})

/**
 * Makes a directory with the given files. It goes away with `remove()`, at the end of an `await using` scope, or
 * at the latest when the process exits.
 *
 * @param files - Text by relative path: `{ 'notes/a.txt': 'one\n' }`.
 */
export async function temporaryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: WorkspaceOptions = {},
): Promise<TemporaryWorkspace> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'delta-test-')))
  temporaryPaths.add(path)

  const remove = async () => {
    tellRemoval(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
    temporaryPaths.delete(path)
  }
  const workspace: TemporaryWorkspace = {
    path,
    write: (name, content) => writeInto(join(path, name), content),
    read: (name) => readFile(join(path, name), 'utf8'),
    files: () => listFiles(path),
    has: (name) => existsSync(join(path, name)),
    remove,
    [Symbol.asyncDispose]: remove,
  }
  for (const [name, content] of Object.entries(files)) await workspace.write(name, content)
  options.onCleanup?.(remove)
  return workspace
}

async function writeInto(path: string, content: string | Uint8Array): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  if (typeof content === 'string' && content.startsWith('#!')) await chmod(path, 0o755)
  return path
}

async function listFiles(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()
}
