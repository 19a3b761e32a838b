import { CREDENTIALS } from '@delta/executor/internal'

/** What a server gets of the environment without being asked. A public server has a tool that prints all of it. */
const USUAL = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'SHELL', 'DELTA_CELL']

/** The environment of a server: what every command needs, and what the file lists of that which the call has. */
export function serverEnvironment(
  env: NodeJS.ProcessEnv,
  passEnv: readonly string[] = [],
): NodeJS.ProcessEnv {
  const names = [...USUAL, ...passEnv.filter((name) => name !== CREDENTIALS)]
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
