import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { openStore, type SnapshotStore } from '../src/index.js'

/** Without them a test is skipped by name. `find -printf` is GNU's. */
export const hasTools = areInstalled('git', 'bash') && process.platform === 'linux'

/** A directory for one test, which is removed whatever modes are in it. */
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'snapshots-test-'))
  onTestFinished(() => {
    execFileSync('sh', ['-c', 'chmod -R u+rwx "$1"; rm -rf "$1"', 'sh', directory], { stdio: 'ignore' }) // Node.js fails at long paths
  })
  return directory
}

/** A directory to be stored, a store, and where restored directories may lie. */
export async function scene(script = ''): Promise<{ from: string; store: SnapshotStore; at: string }> {
  const at = temporaryDirectory()
  const from = join(at, 'from')
  sh(at, 'mkdir from')
  sh(from, script)
  return { from, store: await openStore(join(at, 'store')), at }
}

/** Runs a bash script in a directory. */
export function sh(directory: string, script: string): string {
  return execFileSync('bash', ['-euc', script], { cwd: directory, encoding: 'latin1', maxBuffer: 1e9 })
}

/** Takes the root `files`, and expects that it succeeds. */
export async function take(store: SnapshotStore, directory: string): Promise<string> {
  const snapshot = await store.take({ files: { directory } })
  if (snapshot.id === null) throw new Error(`${snapshot.reason}: ${snapshot.message}`)
  return snapshot.id
}

/**
 * Everything about a directory that a snapshot keeps, one line for each file: path, kind, mode, size, target, time to the
 * microsecond, and the sum of its contents. The directory itself is not in it.
 */
export function describeDirectory(directory: string): string[] {
  const attributes = sh(
    directory,
    String.raw`find . -mindepth 1 -type d -printf '%P|%y|%m||%T@\0' -o -mindepth 1 -printf '%P|%y|%m|%s|%l|%T@\0'`,
  )
  const sums = sh(directory, 'find . -type f -print0 | xargs -0 -r sha256sum -z')
  const lines = attributes.split('\0').map((line) => line.replace(/(\.\d{6})\d+$/, '$1'))
  return [...lines, ...sums.split('\0')].sort()
}

/** What the file with this path holds in a snapshot; undefined when it is not there. */
export async function contents(store: SnapshotStore, id: string, path: string): Promise<string | undefined> {
  for await (const entry of store.list(id)) {
    if (entry.path.toString('latin1') === path) return String(await store.read(entry))
  }
  return undefined
}
