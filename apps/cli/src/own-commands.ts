import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Holds `delta` and `delta-sessions`; beside the built program, wherever that was installed. */
const OWN_DIRECTORY = join(import.meta.dirname, '../path')
const OWN_COMMANDS = new Set(['delta', 'delta-sessions'])

/**
 * The environment in which commands find this very `delta` first, also from a clone or through `npx`, and find the node
 * that runs it if there is no other.
 */
export function withOwnCommands(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const directories = (env.PATH ?? '')
    .split(':')
    .filter((directory) => directory && directory !== OWN_DIRECTORY)
  const node = dirname(process.execPath)
  const path = [OWN_DIRECTORY, ...directories, ...(directories.includes(node) ? [] : [node])]
  return { ...env, PATH: path.join(':') }
}

/**
 * Looks for programs as the system will when a tool is started. A relative path counts as existing: it is relative to
 * a workspace that may not be there yet.
 */
export function commandFinder(homes: Homes, env: NodeJS.ProcessEnv): (program: string) => boolean {
  const directories = (env.PATH ?? '').split(':').filter(Boolean)
  return (program) => {
    const path = withHomes(program, homes)
    if (path.includes('/')) return !path.startsWith('/') || isExecutable(path)
    return OWN_COMMANDS.has(path) || directories.some((directory) => isExecutable(join(directory, path)))
  }
}

/** Looks for files whose paths begin with one of the directories. */
export function fileFinder(homes: Homes): (path: string) => boolean {
  return (path) => existsSync(withHomes(path, homes))
}

interface Homes {
  agentHome: string
  toolHome: string
}

function withHomes(path: string, { agentHome, toolHome }: Homes): string {
  return path.replaceAll('${AGENT_HOME}', () => agentHome).replaceAll('${TOOL_HOME}', () => toolHome)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing or not permitted: it cannot be started
  }
}
