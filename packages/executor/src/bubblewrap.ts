import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { isInside, realPath } from '@delta/durable/internal'
import { type Place, settingsPath, type ToolVariables } from './environment.js'
import { quoteForPerson } from './quote.js'
import { runCommand } from './run-command.js'
import type { Sandbox, SandboxSettings } from './sandbox.js'
import type { Tool } from './tool.js'

const RUNS = ['.delta']
const SESSIONS = '.sessions'

/**
 * The sandbox of a tool, made by `bwrap`; undefined for a tool without `sandbox:`.
 *
 * Inside, the file system can be read; `/tmp`, `/run` and the home directory are empty and private. Only the listed paths can
 * be written, and within them the agent's own directory only if it is listed, too, and never what it imports from elsewhere. A
 * `${TOOL_HOME}` elsewhere can be read, wherever it lies.
 * Every `.delta` in the workspace and from it upward, `runsDirectory`, and what the command line remembers for the user are
 * hidden, and so is every `.sessions`, whose states are code, but from `delta-sessions`. There is no network unless
 * `network: true`, and no other process is visible.
 */
export function bubblewrap(
  { settings: { sandbox: settings, cwd }, expanded: { name, command }, home = '' }: Tool,
  variables: ToolVariables,
  around: SandboxedAgent = {},
): Sandbox | undefined {
  if (!settings) return undefined
  // By its bare name it is the one on the PATH; a path could lead to a file that a tool has written.
  const isSessions = command[0] === 'delta-sessions'
  const hidden = isSessions ? RUNS : [...RUNS, SESSIONS]
  const directory = settingsPath(cwd ?? variables.CWD, variables)
  const own = isAbsolute(home) ? [home] : [] // else it lies in the agent's directory
  const prefix = [...wordsFor(settings, variables, { ...around, hidden, own }), '--chdir', directory, '--']
  return {
    prefix,
    problem: async (place) => {
      const why = pathProblem(settings, variables) ?? (await probe(prefix, place))
      if (why === undefined) return undefined
      return `the sandbox of "${name}" cannot start, and without it the tool is not run. ${why}`
    },
  }
}

/** What a sandbox keeps from its tool, besides the agent's own directory; see `CallContext`. */
interface SandboxedAgent {
  runsDirectory?: string | undefined
  imported?: readonly string[] | undefined
}

/**
 * Why the listed paths cannot be mounted. Tools can make links in the workspace, so a listed path there must not lead out of it;
 * a link elsewhere is the author's decision. bubblewrap cannot mount onto a missing path.
 */
function pathProblem({ write, read }: SandboxSettings, variables: ToolVariables): string | undefined {
  const listed = [...write, ...read].map((path) => sandboxPath(path, variables))
  const workspace = realpathSync(variables.CWD)
  const leadingOut = existing(listed)
    .filter((path) => isInside(path, variables.CWD))
    .find((path) => !isInside(realpathSync(path), workspace))
  if (leadingOut !== undefined) return `${leadingOut} is a link that leads out of the workspace.`
  const missing = listed.find((path) => !existsSync(path))
  if (missing === undefined) return undefined
  return `${missing} does not exist. Create it (mkdir -p ${quoteForPerson([missing])}), or remove it from sandbox.`
}

function wordsFor(
  { network, write, read }: SandboxSettings,
  variables: ToolVariables,
  {
    runsDirectory,
    imported = [],
    hidden,
    own,
  }: SandboxedAgent & Readonly<Record<'hidden' | 'own', readonly string[]>>,
): string[] {
  const { AGENT_HOME, CWD } = variables
  // A session would run what a tool puts into `.sessions`, also where there are none yet.
  const mayMakeSessions =
    hidden.includes(SESSIONS) && write?.some((path) => isInside(CWD, sandboxPath(path, variables)))
  const inWorkspace = within(CWD, hidden)
  const runs = existing(runsDirectory === undefined ? [] : [runsDirectory])
  const home = existing(accountHomes()).filter((path) => path !== '/')
  const paths = (listed: readonly string[]) => listed.map((path) => sandboxPath(path, variables))
  const covered = ['/tmp', '/run', ...home, ...runs]
  const isCovered = (path: string) => covered.some((each) => isInside(realPath(each), realPath(path)))
  const homes = [AGENT_HOME, ...own.filter((path) => !isCovered(path))] // a tool's file in the home directory does not show that
  const shown = [...homes, CWD, ...paths(read), ...paths(write)]
  return [
    'bwrap',
    ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...['--cap-drop', 'ALL'], // root could mount its way out
    ...(network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
    ...empty(covered),
    ...(network ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'] : []), // name lookup
    ...outerFirst([
      ...mounts('--ro-bind', homes),
      ...mounts('--tmpfs', existing([join(AGENT_HOME, 'workspaces')])), // other runs' files
      ...mounts('--ro-bind', [CWD, ...paths(read)]),
      ...mounts('--bind', paths(write)),
      ...partsWithin(paths(write), [
        ...homes,
        ...guarded(imported, paths(write), AGENT_HOME),
        ...inWorkspace.filter((path) => basename(path) === SESSIONS), // or one above it is moved, and another put there
      ]),
      ...mounts('--tmpfs', stateDirectories(covered, shown)),
    ]),
    ...empty([
      ...existing(upward(dirname(CWD)).flatMap((directory) => hidden.map((name) => join(directory, name)))),
      ...inWorkspace,
      ...(mayMakeSessions && !existsSync(join(CWD, SESSIONS)) ? [join(CWD, SESSIONS)] : []),
      ...runs.filter((directory) => !isInside(AGENT_HOME, directory)), // a listed path may hold them
    ]),
  ]
}

/** Where the command line may keep which runs are the user's, unless it is hidden with a directory above it. */
function stateDirectories(covered: readonly string[], shown: readonly string[]): string[] {
  const { DELTA_STATE_DIR: own = '', XDG_STATE_HOME: shared = '' } = process.env
  const all = existing([own, join(shared, 'delta'), join(homedir(), '.local/state/delta')].filter(isAbsolute))
  const isIn = (path: string, directories: readonly string[]) =>
    directories.some((directory) => isInside(realPath(path), realPath(directory)))
  // a mount needs the directory itself, not a link to it
  return [...new Set(all.map(realPath))].filter((path) => isIn(path, shown) || !isIn(path, covered))
}

/** `CWD/out`, `${CWD}/out`, `~/out`, `out` (in the workspace) and `/out` are all understood. */
function sandboxPath(path: string, variables: ToolVariables): string {
  const home = path.replace(/^~(?=\/|$)/, homedir())
  return settingsPath(home.replace(/^(AGENT_HOME|CWD)(?=\/|$)/, '${$1}'), variables)
}

function empty(paths: readonly string[]): string[] {
  return paths.flatMap((path) => ['--tmpfs', path])
}

/** The home directory, as `HOME` names it and as the account has it. */
function accountHomes(): string[] {
  try {
    return [...new Set([homedir(), userInfo().homedir])]
  } catch {
    return [homedir()] // an account without an entry, as in a container
  }
}

/**
 * What is read-only of what an agent imports: the directory of a file, with the scripts that lie there, or the file alone where a
 * writable path lies in its directory.
 */
function guarded(imported: readonly string[], writable: readonly string[], agentHome: string): string[] {
  const holdsWritable = (directory: string) => writable.some((path) => isInside(realPath(path), directory))
  const found = existing(imported)
    .filter((path) => !isInside(path, realPath(agentHome)))
    .map((path) => (statSync(path).isFile() && !holdsWritable(dirname(path)) ? dirname(path) : path))
    .filter((path) => !holdsWritable(path))
  return [...new Set(found)].filter((path) => !found.some((other) => other !== path && isInside(path, other)))
}

/**
 * Each part of the agent that a writable path holds: the part under its name there, and each directory above it. A mounted
 * directory cannot be moved away and replaced.
 */
function partsWithin(writable: readonly string[], parts: readonly string[]): Mount[] {
  const real = parts.map(realPath).filter((part) => !writable.some((path) => realPath(path) === part))
  const all = real.flatMap((part) => writable.flatMap((path) => wayTo(part, path)))
  const readOnly = new Set(all.filter(({ option }) => option === '--ro-bind').map(({ path }) => path))
  return all.filter(({ option, path }) => option === '--ro-bind' || !readOnly.has(path))
}

function wayTo(part: string, writable: string): Mount[] {
  const way = relative(realPath(writable), part).split(sep)
  if (way[0] === '..') return []
  const names = way.map((_, index) => join(writable, ...way.slice(0, index + 1)))
  return names.map((name) => ({ option: name === names.at(-1) ? '--ro-bind' : '--bind', path: name }))
}

/** A path to read, to write, or hidden by an empty directory. */
interface Mount {
  option: '--ro-bind' | '--bind' | '--tmpfs'
  path: string
}

function mounts(option: Mount['option'], paths: readonly string[]): Mount[] {
  return paths.map((path) => ({ option, path }))
}

/**
 * The words for these mounts. A later mount covers an earlier one, so the inner path comes last: a workspace in the agent's
 * directory can be written, an agent's directory in a writable workspace cannot. Of equal paths the last one counts.
 */
function outerFirst(all: readonly Mount[]): string[] {
  const depth = ({ path }: Mount) => realPath(path).split('/').length
  return all
    .toSorted((left, right) => depth(left) - depth(right))
    .flatMap(({ option, path }) => (option === '--tmpfs' ? [option, path] : [option, path, path]))
}

/**
 * Every directory of these names in a directory, at any depth, so that tools see no run of a nested workspace. Links are not
 * followed.
 */
function within(directory: string, names: readonly string[]): string[] {
  return entriesOf(directory).flatMap((entry) => {
    if (!entry.isDirectory()) return []
    const path = join(directory, entry.name)
    return names.includes(entry.name) ? [path] : within(path, names)
  })
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return [] // gone meanwhile, or not readable for this user and so for the tool
  }
}

function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path))
}

function upward(directory: string): string[] {
  const parent = dirname(directory)
  return parent === directory ? [directory] : [directory, ...upward(parent)]
}

const PROBE_TIMEOUT_MS = 10_000

const probes = new Map<string, Promise<string | undefined>>()

/**
 * Tries once per process and sandbox whether the sandbox itself can start. Without this a missing `bwrap` or a kernel without
 * user namespaces would look like a tool that failed, and a model would try to work around it.
 *
 * @returns undefined when it starts; otherwise why not, and what to do.
 */
function probe(prefix: readonly string[], place: Place): Promise<string | undefined> {
  const key = prefix.join('\0')
  const probed = probes.get(key) ?? tryOut(prefix, place)
  probes.set(key, probed)
  return probed
}

async function tryOut(prefix: readonly string[], place: Place): Promise<string | undefined> {
  const outcome = await runCommand([...prefix, 'true'], { ...place, timeoutMs: PROBE_TIMEOUT_MS })
  if (outcome.status === 'EXITED' && outcome.exitCode === 0) return undefined
  if (outcome.startError?.code === 'NOT_FOUND')
    return 'bubblewrap is not installed. Install it (Debian, Ubuntu: apt install bubblewrap).'
  const said = outcome.startError?.message ?? (outcome.stderr.text.trim() || `bwrap: ${outcome.status}`)
  return `${said}\nbubblewrap needs user namespaces. Allow them (in a container: run it with the rights to create them).`
}
