import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Tool } from '../tool/define-tool.js'
import type { SandboxSettings } from '../tool/settings.js'
import { settingsPath, type Variables } from '../tool/variables.js'
import { isInside } from '../tool/working-directory.js'

/**
 * The `bwrap` words in front of a sandboxed tool's command; undefined for a tool without `sandbox:`.
 *
 * Inside, the file system is there to read; `/tmp`, `/run` and the home directory are empty and
 * private; only the listed paths can be written; every `.delta` from the workspace upward, and
 * `runsDirectory`, is hidden; there is no network unless asked for, and no other process to see.
 */
export function sandboxPrefix(
  { settings }: Tool,
  variables: Variables,
  runsDirectory?: string,
): string[] | undefined {
  if (!settings.sandbox) return undefined
  const cwd = settingsPath(settings.cwd ?? variables.CWD, variables)
  return [...bubblewrap(settings.sandbox, variables, runsDirectory), '--chdir', cwd, '--']
}

/**
 * The path of `sandbox.read` or `sandbox.write` that is written as one in the workspace, and leads out of it: tools can make
 * links there. A path elsewhere is the author's decision.
 */
export function pathLeadingOut({ settings: { sandbox } }: Tool, variables: Variables): string | undefined {
  if (sandbox === undefined) return undefined
  const workspace = realpathSync(variables.CWD)
  return [...sandbox.write, ...sandbox.read]
    .map((path) => sandboxPath(path, variables))
    .filter((path) => isInside(path, variables.CWD) && existsSync(path))
    .find((path) => !isInside(realpathSync(path), workspace))
}

function bubblewrap(
  { network, write, read }: SandboxSettings,
  variables: Variables,
  runsDirectory: string | undefined,
): string[] {
  const { AGENT_HOME, CWD } = variables
  const runs = existing(runsDirectory === undefined ? [] : [runsDirectory])
  const paths = (listed: readonly string[]) => listed.map((path) => sandboxPath(path, variables))
  return [
    'bwrap',
    ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...['--cap-drop', 'ALL'], // root could mount its way out
    ...(network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...empty(['/tmp', '/run', ...homeDirectory(), ...runs]),
    ...(network ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'] : []), // name lookup
    ...bind('--ro-bind', [AGENT_HOME]),
    ...empty(existing([join(AGENT_HOME, 'workspaces')])), // other runs' files are not this tool's
    ...bind('--ro-bind', [CWD, ...paths(read)]),
    ...bind('--bind', paths(write)),
    ...empty(existing(upward(CWD).map((directory) => join(directory, '.delta')))),
    ...empty(runs.filter((directory) => !isInside(AGENT_HOME, directory))), // a listed path may hold them
  ]
}

/** `CWD/out`, `${CWD}/out`, `~/out`, `out` (in the workspace) and `/out` are all understood. */
function sandboxPath(path: string, variables: Variables): string {
  const home = path.replace(/^~(?=\/|$)/, homedir())
  return settingsPath(home.replace(/^(AGENT_HOME|CWD)(?=\/|$)/, '${$1}'), variables)
}

function empty(paths: readonly string[]): string[] {
  return paths.flatMap((path) => ['--tmpfs', path])
}

function bind(option: '--bind' | '--ro-bind', paths: readonly string[]): string[] {
  return paths.flatMap((path) => [option, path, path])
}

function homeDirectory(): string[] {
  const home = homedir()
  return home === '/' ? [] : existing([home])
}

function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path))
}

function upward(directory: string): string[] {
  const parent = dirname(directory)
  return parent === directory ? [directory] : [directory, ...upward(parent)]
}
