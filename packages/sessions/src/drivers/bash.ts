import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@delta/durable'
import { writePrivately } from '../store.js'
import { bashProgram, STATE_VARIABLE, WORK_VARIABLE } from './bash-program.js'
import { readBashReport } from './bash-state.js'
import { type Driver, type DriverCall, type Launch, shellEnvironment } from './driver.js'

/** The kernel takes 128 KB in one argument; longer commands go through a file. */
const LONGEST_ARGUMENT = 100_000

/**
 * Remembers the working directory, the environment, unexported variables with their attributes,
 * functions, aliases, `shopt` and `set` options, disabled builtins and the umask.
 */
export const bash: Driver = {
  stateFile: 'state.bash',

  prepare(call: DriverCall): Launch {
    const { program, session, command, work, state, secretNames } = call
    const { env } = shellEnvironment(call)
    const script = join(session, 'program.bash')
    ensureFile(script, bashProgram(secretNames))
    return {
      argv: [program, '--noprofile', '--norc', ...commandArguments(command, work)],
      env: { ...env, BASH_ENV: script, [WORK_VARIABLE]: work, [STATE_VARIABLE]: state },
    }
  },

  collect: (work, secrets) => readBashReport(readFileSync(work, 'latin1'), secrets),

  check: (program, stateFile) => [program, '--noprofile', '--norc', '-O', 'extglob', '-n', stateFile],
}

/** Written by the first command, and again by the first one after an upgrade of this package. */
function ensureFile(path: string, text: string): void {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() // a pipe would be waited for
  if (!isFile || readFileSync(path, 'utf8') !== text) replaceFile(path, text)
}

function commandArguments(command: string, work: string): string[] {
  if (Buffer.byteLength(command) < LONGEST_ARGUMENT) return ['-c', '--', command, 'bash']
  const path = `${work}.command`
  writePrivately(path, command)
  return ['-c', '. "$0"', path]
}
