import { readFileSync } from 'node:fs'
import { readIfThere } from '@delta/durable'
import { formatVariables } from '../environment.js'
import { writePrivately } from '../store.js'
import { type Driver, type DriverCall, type Launch, launchEnvironment, parseReport } from './driver.js'
import pythonProgram from './python-program.py'

/**
 * Python 3. Remembers variables, imports, functions and classes, the working directory and
 * `os.environ`; names what cannot be remembered. The value of a last expression is printed, as at
 * Python's own prompt.
 */
export const python: Driver = {
  stateFile: 'state.pickle',

  prepare(call: DriverCall): Launch {
    const { program, command, work, state, number, secretNames } = call
    const { env, late } = launchEnvironment(call)
    if (late.size > 0) writePrivately(`${work}.variables`, formatVariables(late))
    writePrivately(`${work}.command`, command)
    return { argv: [program, '-c', pythonProgram, work, state, String(number), secretNames.join(',')], env }
  },

  collect(work) {
    const report = parseReport(readFileSync(work))
    const own = readIfThere(`${work}.state`)
    return report && { ...report, ...(own && { own }) }
  },
}
