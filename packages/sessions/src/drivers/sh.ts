import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Driver, Launch } from './driver.js'
import { launchEnvironment, quote } from './launch-environment.js'

/**
 * Any POSIX shell. It can list neither its functions nor what it defaults to, so a session of it
 * remembers the working directory, the environment and the umask; `bash` remembers more.
 */
export const sh: Driver = {
  stateFile: 'state.sh',

  prepare({ program, command, work, state, variables }): Launch {
    const { env, script } = launchEnvironment(variables, join(work, 'variables.sh'))
    const path = join(work, 'command')
    writeFileSync(path, command, { mode: 0o600 })
    writeFileSync(join(work, 'state'), '', { mode: 0o600 })
    return { argv: [program, '-c', shProgram({ work, state, script, path }), 'sh'], env }
  },
}

/** Restores, sets the handler that saves, and runs the command, which a syntax error cannot leave. */
function shProgram(call: { work: string; state: string; script: string | undefined; path: string }): string {
  const file = (name: string) => quote(join(call.work, name))
  return `
${call.script === undefined ? '' : `. ${quote(call.script)}`}
[ ! -r ${quote(call.state)} ] || . ${quote(call.state)}
trap 'set +aCefuvx
echo "umask $(umask)" >${file('state').replaceAll("'", `'\\''`)}
umask 077
pwd >${file('cwd').replaceAll("'", `'\\''`)}
/usr/bin/env -0 >${file('env').replaceAll("'", `'\\''`)}
: >${file('done').replaceAll("'", `'\\''`)}' EXIT
. ${quote(call.path)}
`
}
