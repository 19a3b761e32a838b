import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'

/** Commands that this one puts on the `PATH` of every tool. */
const OWN_COMMANDS = new Set(['delta', 'delta-sessions'])

/**
 * Looks for programs as the system will when a tool is started. A relative path counts as existing: it is relative to
 * a workspace that may not be there yet.
 */
export function commandFinder(agentHome: string, env: NodeJS.ProcessEnv): (program: string) => boolean {
  const directories = (env.PATH ?? '').split(':').filter(Boolean)
  return (program) => {
    const path = program.replaceAll('${AGENT_HOME}', agentHome)
    if (path.includes('/')) return !path.startsWith('/') || isExecutable(path)
    return OWN_COMMANDS.has(path) || directories.some((directory) => isExecutable(join(directory, path)))
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing or not permitted: it cannot be started
  }
}
