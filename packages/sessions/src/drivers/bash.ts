import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../files.js'
import { bashProgram, STATE_VARIABLE, WORK_VARIABLE } from './bash-program.js'
import type { Driver, Launch } from './driver.js'
import { launchEnvironment } from './launch-environment.js'

/** The kernel takes 128 KB in one argument; longer commands go through a file. */
const LONGEST_ARGUMENT = 100_000

/**
 * Remembers the working directory, the environment, unexported variables with their attributes,
 * functions, aliases, `shopt` and `set` options and the umask.
 */
export const bash: Driver = {
  stateFile: 'state.bash',

  prepare({ program, session, command, work, state, variables, secretNames }): Launch {
    const { env } = launchEnvironment(variables, join(work, 'variables.sh'))
    const script = join(session, 'program.bash')
    ensureFile(script, bashProgram(secretNames))
    // Made here, so that the shell's own umask does not decide who may read it.
    writeFileSync(join(work, 'state'), '', { mode: 0o600 })
    return {
      argv: [program, '--noprofile', '--norc', ...commandArguments(command, work)],
      env: { ...env, BASH_ENV: script, [WORK_VARIABLE]: work, [STATE_VARIABLE]: state },
    }
  },

  check: (program, stateFile) => [program, '--noprofile', '--norc', '-O', 'extglob', '-n', stateFile],
}

/** Written by the first command, and again by the first one after an upgrade of this package. */
function ensureFile(path: string, text: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size !== Buffer.byteLength(text)) replaceFile(path, text)
}

function commandArguments(command: string, work: string): string[] {
  if (Buffer.byteLength(command) < LONGEST_ARGUMENT) return ['-c', '--', command, 'bash']
  const path = join(work, 'command')
  writeFileSync(path, command, { mode: 0o600 })
  return ['-c', '. "$0"', path]
}
