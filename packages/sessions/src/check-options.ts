import { isObject, isText, requireThat } from './usage.js'

/** @throws {SessionError} `ERR_SESSION_USAGE`, naming the first argument that cannot be used; as the others here. */
export function checkStart(program: unknown, options: unknown): void {
  requireThat(isText(program), 'startSession: the program', "'bash', 'sh' or 'python3'")
  const { sessionsDirectory, workDirectory, environment, secretNames } = Object(options)
  const of = 'startSession: the option'
  requireThat(isPath(sessionsDirectory), `${of} sessionsDirectory`, SESSIONS)
  requireThat(isPath(workDirectory), `${of} workDirectory`, 'the path of the directory where it begins')
  requireThat(isEnvironment(environment), `${of} environment`, ENVIRONMENT)
  const isNames = secretNames === undefined || (Array.isArray(secretNames) && secretNames.every(isText))
  requireThat(isNames, `${of} secretNames`, 'a list of names of variables, or nothing')
}

export function checkExec(id: unknown, command: unknown, options: unknown): void {
  checkId('execInSession', id)
  requireThat(
    typeof command === 'string',
    'execInSession: the command',
    'a text for the shell of the session',
  )
  const { sessionsDirectory, environment, timeoutMs, maxOutputBytes, signal } = Object(options)
  const of = 'execInSession: the option'
  requireThat(isPath(sessionsDirectory), `${of} sessionsDirectory`, SESSIONS)
  requireThat(isEnvironment(environment), `${of} environment`, ENVIRONMENT)
  checkTime(`${of} timeoutMs`, timeoutMs)
  const isSize = maxOutputBytes === undefined || (typeof maxOutputBytes === 'number' && maxOutputBytes >= 0)
  requireThat(isSize, `${of} maxOutputBytes`, 'a number of bytes, or nothing')
  checkSignal(`${of} signal`, signal)
}

export function checkEnd(id: unknown, options: unknown): void {
  checkId('endSession', id)
  checkEnding('endSession', options)
}

export function checkCleanUp(options: unknown): void {
  checkEnding('cleanUpSessions', options)
  const { all, now, runId } = Object(options)
  const isFlag = all === undefined || typeof all === 'boolean' // the text `no` must not end every session
  requireThat(isFlag, 'cleanUpSessions: the option all', 'true or false, or nothing')
  const isDate = now === undefined || !Number.isNaN(Object(now).getTime?.() ?? Number.NaN)
  requireThat(isDate, 'cleanUpSessions: the option now', 'a Date, or nothing')
  const isId = runId === undefined || isText(runId)
  requireThat(isId, 'cleanUpSessions: the option runId', 'the id of a run, or nothing')
}

export function checkList(sessionsDirectory: unknown): void {
  requireThat(isPath(sessionsDirectory), 'listSessions: the directory', SESSIONS)
}

function checkEnding(name: string, options: unknown): void {
  const { sessionsDirectory, patienceMs, signal } = Object(options)
  const of = `${name}: the option`
  requireThat(isPath(sessionsDirectory), `${of} sessionsDirectory`, SESSIONS)
  checkTime(`${of} patienceMs`, patienceMs)
  checkSignal(`${of} signal`, signal)
}

function checkId(name: string, id: unknown): void {
  requireThat(typeof id === 'string', `${name}: the id`, 'the session_id that startSession gave')
}

function checkTime(what: string, milliseconds: unknown): void {
  const isTime = typeof milliseconds === 'number' && milliseconds >= 0
  requireThat(milliseconds === undefined || isTime, what, 'milliseconds, 0 or more, or nothing')
}

/** By its form: a signal may come from another realm. */
function checkSignal(what: string, signal: unknown): void {
  const isSignal = typeof Object(signal).addEventListener === 'function'
  requireThat(signal === undefined || isSignal, what, 'an AbortSignal, or nothing')
}

function isPath(path: unknown): boolean {
  return isText(path) && !path.includes('\0')
}

/** Its values are written to a file, so none may be anything but text. */
function isEnvironment(environment: unknown): boolean {
  const isValue = (value: unknown) => value === undefined || typeof value === 'string'
  return isObject(environment) && Object.values(environment).every(isValue)
}

const SESSIONS = 'the path of the directory where sessions live'
const ENVIRONMENT = 'process.env, or a part of it'
