import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { quoteForPerson } from '@delta/executor'

const PROGRAM = join(import.meta.dirname, '../bin.cjs')
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
export function commandFinder(agentHome: string, env: NodeJS.ProcessEnv): (program: string) => boolean {
  const directories = (env.PATH ?? '').split(':').filter(Boolean)
  return (program) => {
    const path = program.replaceAll('${AGENT_HOME}', agentHome)
    if (path.includes('/')) return !path.startsWith('/') || isExecutable(path)
    return OWN_COMMANDS.has(path) || directories.some((directory) => isExecutable(join(directory, path)))
  }
}

/**
 * The words that start this very program again: `delta` only if the person's shell finds this program by that name, which it
 * does not in a clone, or where another program has the name.
 */
export function ownName(env: NodeJS.ProcessEnv): string {
  if (env.npm_lifecycle_event === 'npx') return 'npx @delta/cli' // its PATH is gone afterwards
  const directories = (env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'))
  const found = directories.map((directory) => join(directory, 'delta')).find(isExecutable)
  return found !== undefined && startsThisProgram(found) ? 'delta' : quoteForPerson(['node', PROGRAM])
}

/** npm links to the program; pnpm, and the folder for an agent's tools, have a short script that names it. */
function startsThisProgram(path: string): boolean {
  if (realpathSync(path) === realpathSync(PROGRAM)) return true
  return readFileSync(path, 'utf8').includes('bin.cjs"')
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing or not permitted: it cannot be started
  }
}
