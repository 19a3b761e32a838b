import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { tellRemoval, temporaryWorkspace } from './workspace.js'

/**
 * Whether all these programs are on the `PATH`. Where one is not, that is said on stderr, for a test that did not run
 * looks like one that passed.
 *
 * @throws {Error} One is missing, and `DELTA_REQUIRE` (names, separated by commas) says that it must be there.
 */
export function areInstalled(...programs: string[]): boolean {
  return programs.map((name) => isPartThere(name, isInstalled(name))).every(Boolean)
}

/**
 * The same for anything else that a machine may lack, such as a sandbox that works.
 *
 * @throws {Error} It is missing, and `DELTA_REQUIRE` says that it must be there.
 */
export function isPartThere(part: string, isThere: boolean, why = 'it cannot be found here'): boolean {
  if (isThere) return true
  if ((process.env.DELTA_REQUIRE ?? '').split(',').includes(part))
    throw new Error(`${part} is required here (DELTA_REQUIRE): ${why}.`)
  console.warn(`SKIPPED: what needs ${part} is not tested: ${why}.`)
  return false
}

function isInstalled(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => isExecutable(join(directory, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const WITHOUT_PROC = ['sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
const CONTAINER = ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child']
/** No other process has such a high number there. */
const FAR_AWAY = ['sh', '-c', 'echo 32000 > /proc/sys/kernel/ns_last_pid; "$@"', 'sh']

/** What a program is started with, to be where the system does not show it its own processes; see `canStart`. */
export const unseenProcesses: Readonly<Record<string, readonly string[]>> = {
  'no /proc is mounted': ['unshare', '--map-root-user', '--mount', ...WITHOUT_PROC],
  '/proc is that of another container': [...CONTAINER, ...FAR_AWAY],
}

/** What a program is started with, to be in a container that has our host name; see `canStart`. */
export const containers: Readonly<Record<string, readonly string[]>> = {
  'another container': [...CONTAINER, '--mount-proc'],
  'a container with our /proc': CONTAINER,
  'a container without a /proc': [...CONTAINER, '--mount', ...WITHOUT_PROC],
}

/** False where the system knows no namespaces (macOS), or refuses them to us: the test is then to be skipped. */
export function canStart(place: readonly string[]): boolean {
  const [program = '', ...words] = place
  return spawnSync(program, [...words, 'true']).status === 0
}

/** A file system of its own, for what happens on a disk that is full or may only be read. */
export interface SmallDisk {
  readonly path: string
  /** False where nobody may mount one: then `path` is an ordinary directory, and the test is to be skipped. */
  readonly mounted: boolean
  makeReadOnly(): void
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Mounts a small file system in memory; it goes away at the end of an `await using` scope. Mounting takes root. Where it
 * is refused, that is said on stderr, for a test that did not run looks like one that passed.
 *
 * @param options - What `mount -o` takes for a tmpfs: `size=400k`, `nr_inodes=60`.
 */
export async function smallDisk(options = 'size=400k'): Promise<SmallDisk> {
  const directory = await temporaryWorkspace()
  const { path } = directory
  const mount = (...words: string[]): boolean => spawnSync('mount', words).status === 0
  const mounted = mount('-t', 'tmpfs', '-o', options, 'tmpfs', path)
  if (!mounted)
    console.warn('SKIPPED: no file system can be mounted here, so full and read-only disks are not tested.')
  return {
    path,
    mounted,
    makeReadOnly: () => void mount('-o', 'remount,ro', path),
    async [Symbol.asyncDispose]() {
      tellRemoval(path)
      if (mounted) spawnSync('umount', ['-l', path]) // also while something on it is still open
      await directory.remove()
    },
  }
}
