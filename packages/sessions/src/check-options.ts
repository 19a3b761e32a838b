import { isObject, isText, requireThat } from './usage.js'

/** @throws {SessionError} `ERR_SESSION_USAGE`, naming the first argument that cannot be used; as the other one here. */
export function checkStart(program: unknown, options: unknown): void {
  requireThat(isText(program), 'startSession: the program', "'bash', 'sh' or 'python3'")
  const { sessionsDirectory, workDirectory, environment } = Object(options)
  const of = 'startSession: the option'
  requireThat(
    isText(sessionsDirectory),
    `${of} sessionsDirectory`,
    'the path of the directory where sessions live',
  )
  requireThat(isText(workDirectory), `${of} workDirectory`, 'the path of the directory where it begins')
  requireThat(isObject(environment), `${of} environment`, 'process.env, or a part of it')
}

export function checkExec(id: unknown, command: unknown, options: unknown): void {
  requireThat(typeof id === 'string', 'execInSession: the id', 'the session_id that startSession gave')
  requireThat(
    typeof command === 'string',
    'execInSession: the command',
    'a text for the shell of the session',
  )
  const { sessionsDirectory, environment } = Object(options)
  const of = 'execInSession: the option'
  requireThat(
    isText(sessionsDirectory),
    `${of} sessionsDirectory`,
    'the path of the directory where sessions live',
  )
  requireThat(isObject(environment), `${of} environment`, 'process.env, or a part of it')
}
