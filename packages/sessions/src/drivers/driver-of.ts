import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readIfThere, replaceFile } from '@delta/durable'
import { SessionError } from '../errors.js'
import { formatVariables } from '../state.js'
import { bash } from './bash.js'
import { type Driver, type DriverCall, type Launch, launchEnvironment, type Report } from './driver.js'
import pythonProgram from './python-program.py'
import { sh } from './sh.js'

/**
 * The driver of a program, by its name.
 *
 * @throws {SessionError} `ERR_SESSION_PROGRAM`: there is no driver for it.
 */
export function driverOf(program: string): Driver {
  const driver = findDriver(program)
  if (driver !== undefined) return driver
  throw new SessionError('ERR_SESSION_PROGRAM', unsupportedMessage(program))
}

export function isSupported(program: string): boolean {
  return findDriver(program) !== undefined
}

export function unsupportedMessage(program: string): string {
  return `There are no sessions of ${JSON.stringify(program)}. Start bash, sh or python3.`
}

function findDriver(program: string): Driver | undefined {
  const name = basename(program)
  if (name === 'bash') return bash
  if (name === 'sh' || name === 'dash') return sh
  if (/^python3?(\.\d+)?$/.test(name)) return python
  return undefined
}

/**
 * Python 3. Remembers variables, imports, functions and classes, the working directory and
 * `os.environ`; names what it cannot remember. Prints the value of a last expression, as Python's own prompt does.
 */
const python: Driver = {
  stateFile: 'state.pickle',

  prepare(call: DriverCall): Launch {
    const { program, command, work, state, number, secretNames } = call
    const { env, late } = launchEnvironment(call)
    if (late.size > 0) replaceFile(`${work}.variables`, formatVariables(late), { sync: false })
    replaceFile(`${work}.command`, command, { sync: false })
    return { argv: [program, '-c', pythonProgram, work, state, String(number), secretNames.join(',')], env }
  },

  collect(work) {
    const text = readFileSync(work, 'utf8')
    if (text === '') return undefined
    const { variables, ...report } = JSON.parse(text) as PythonReport
    const own = readIfThere(`${work}.state`)
    return {
      ...report,
      variables: new Map(
        Object.entries(variables).map(([name, value]) => [name, Buffer.from(value, 'latin1')]),
      ),
      withheld: [],
      ...(own && { own }),
    }
  },
}

/** The work file of the Python program. The values of variables are latin1, one character a byte. */
type PythonReport = Pick<Report, 'workDirectory' | 'jobs' | 'notKept'> & { variables: Record<string, string> }
