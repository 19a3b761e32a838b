import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Driver, Launch } from './driver.js'
import { launchEnvironment } from './launch-environment.js'
import { pythonProgram } from './python-program.js'

/**
 * Python 3. Remembers variables, imports, functions and classes, the working directory and
 * `os.environ`; names what cannot be remembered. The value of a last expression is printed, as at
 * Python's own prompt.
 */
export const python: Driver = {
  stateFile: 'state.pickle',

  prepare({ program, command, work, state, number, variables, secretNames }): Launch {
    // Python has no script to set late what is not text; such values do not reach it.
    const { env } = launchEnvironment(variables, join(work, 'variables.sh'))
    writeFileSync(join(work, 'command'), command, { mode: 0o600 })
    return { argv: [program, '-c', pythonProgram, work, state, String(number), secretNames.join(',')], env }
  },
}
