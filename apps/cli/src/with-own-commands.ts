import { dirname, join } from 'node:path'

/** Holds `delta` and `delta-sessions`; beside the built program, wherever that was installed. */
const OWN_COMMANDS = join(import.meta.dirname, '../path')

/**
 * The environment in which commands find this very `delta` first, also from a clone or through `npx`, and find the node
 * that runs it if there is no other.
 */
export function withOwnCommands(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const directories = (env.PATH ?? '')
    .split(':')
    .filter((directory) => directory && directory !== OWN_COMMANDS)
  const node = dirname(process.execPath)
  const path = [OWN_COMMANDS, ...directories, ...(directories.includes(node) ? [] : [node])]
  return { ...env, PATH: path.join(':') }
}
