import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Driver, Launch } from './driver.js'
import { launchEnvironment, printEnvironment, quote } from './launch-environment.js'

/**
 * Any POSIX shell. It can list neither its functions nor what it defaults to, so a session of it
 * remembers the working directory, the environment and the umask; `bash` remembers more.
 */
export const sh: Driver = {
  stateFile: 'state.sh',

  prepare({ program, command, work, state, variables, secretNames }): Launch {
    const { env, script } = launchEnvironment(variables, join(work, 'variables.sh'))
    const path = join(work, 'command')
    writeFileSync(path, command, { mode: 0o600 })
    writeFileSync(join(work, 'state'), '', { mode: 0o600 })
    return { argv: [program, '-c', shProgram({ work, state, script, path, secretNames }), 'sh'], env }
  },
}

interface ShCall {
  work: string
  state: string
  script: string | undefined
  path: string
  secretNames: readonly string[]
}

/** Restores, sets the handler that saves, and runs the command from its file. */
function shProgram({ work, state, script, path, secretNames }: ShCall): string {
  const file = (name: string) => quote(join(work, name))
  const save = `set +aCefuvx
echo "umask $(umask)" >${file('state')}
umask 077
{
${printEnvironment(secretNames)}
printf '=cwd='
pwd
printf '\\0=done=\\0'
} >${file('report')}`
  const restore = [script, state].map((each) =>
    each === undefined ? '' : `[ ! -r ${quote(each)} ] || . ${quote(each)}`,
  )
  return [...restore, `trap ${quote(save)} EXIT`, `. ${quote(path)}`].join('\n')
}
