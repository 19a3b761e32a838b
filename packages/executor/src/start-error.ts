import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { TEMPORARY_NAME } from './channels.js'

/** Why a command did not start. */
export type StartErrorCode =
  | 'NOT_FOUND'
  | 'NOT_EXECUTABLE'
  | 'TOO_LARGE'
  | 'NUL_BYTE'
  | 'NO_CWD'
  | 'NO_OUTPUT_FILE'
  | 'FAILED'

/** The command did not start, and nothing was run. */
export interface StartError {
  code: StartErrorCode
  /** One or two sentences: what is wrong, and what to do. */
  message: string
}

/** Linux passes no single argument longer than this, its final NUL included. */
const LONGEST_ARGUMENT_BYTES = 128 * 1024

export const BY_STDIN =
  'Large values belong on standard input: let the tool take this parameter with stdin:, or all with stdin: json.'

/** What shells do themselves; some systems have programs of these names, too. */
const SHELL_WORDS = new Set(
  '. : alias cd eval exec export read set shift source trap ulimit umask unset wait'.split(' '),
)

interface Attempt {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Turns what `spawn` or `open` threw into a cause a person can act on. */
export function explainStartError(error: unknown, argv: readonly string[], attempt: Attempt): StartError {
  const { code, syscall, path, message } = error as NodeJS.ErrnoException
  if (syscall === 'open' || syscall === 'write' || syscall === 'unlink') {
    return { code: 'NO_OUTPUT_FILE', message: explainFile(path, `(${code})`, message) }
  }
  if (code === 'ERR_INVALID_ARG_VALUE') return explainNul(argv, attempt.env, message)
  if (code === 'E2BIG') return explainTooLarge(argv)
  const directory = explainDirectory(attempt.cwd)
  if (directory) return { code: 'NO_CWD', message: directory }
  const program = argv[0] ?? ''
  if (code === 'ENOENT' || (code === 'EACCES' && !isThere(program, attempt)))
    return explainNotFound(program, attempt.cwd)
  if (code === 'EACCES') {
    const message = `"${program}" is not an executable file. Check its path, and its permissions (chmod +x).`
    return { code: 'NOT_EXECUTABLE', message }
  }
  return { code: 'FAILED', message: `"${program}" could not be started (${code ?? 'no code'}): ${message}` }
}

function explainFile(path: string | undefined, code: string, message: string): string {
  if (path === undefined || !basename(path).startsWith(TEMPORARY_NAME))
    return `${path ?? 'A temporary file'} cannot be written ${code}: ${message}`
  return `No temporary file can be made in ${dirname(path)} ${code}. Make that directory writable, or name another in TMPDIR.`
}

function explainNul(argv: readonly string[], env: NodeJS.ProcessEnv, fallback: string): StartError {
  const index = argv.findIndex((word) => word.includes('\0'))
  const variable = Object.keys(env).find((name) => env[name]?.includes('\0') || name.includes('\0'))
  const where =
    index >= 0
      ? `Argument ${index} of the command`
      : variable !== undefined
        ? `The environment variable ${JSON.stringify(variable)}`
        : undefined
  if (where === undefined) return { code: 'FAILED', message: fallback }
  return {
    code: 'NUL_BYTE',
    message: `${where} holds a NUL byte, which no command can be given there. Pass it through stdin.`,
  }
}

function explainTooLarge(argv: readonly string[]): StartError {
  const sizes = argv.map((word) => Buffer.byteLength(word) + 1)
  const index = sizes.findIndex((bytes) => bytes > LONGEST_ARGUMENT_BYTES)
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
  const what =
    index >= 0
      ? `Argument ${index} is ${(sizes[index] ?? 1) - 1} bytes long; the system passes at most ${LONGEST_ARGUMENT_BYTES - 1} bytes in one argument.`
      : `The arguments are ${total} bytes together; with the environment that is more than the system passes to a command.`
  return {
    code: 'TOO_LARGE',
    message: `${what} ${BY_STDIN}`,
  }
}

function explainDirectory(cwd: string): string | undefined {
  try {
    accessSync(cwd, constants.X_OK)
    if (statSync(cwd).isDirectory()) return undefined
    return `The working directory ${cwd} is not a directory.`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `The working directory ${cwd} cannot be entered (${code}). Create it, or give another cwd.`
  }
}

/** Whether there is such a file; the system says EACCES, too, of a directory on the PATH that nobody may look into. */
function isThere(program: string, { cwd, env }: Attempt): boolean {
  if (program.includes('/')) return true
  return (env.PATH ?? '').split(':').some((directory) => existsSync(resolve(cwd, directory, program)))
}

function explainNotFound(program: string, cwd: string): StartError {
  if (!program.includes('/')) {
    const message = SHELL_WORDS.has(program)
      ? `"${program}" is a word of the shell, not a program. Let a shell run it: shell: in a tool.`
      : `"${program}" is not on the PATH. Install it, or write the path of the program.`
    return { code: 'NOT_FOUND', message }
  }
  const path = resolve(cwd, program)
  const there = statSync(path, { throwIfNoEntry: false }) !== undefined
  const message = there
    ? `"${program}" ${explainInterpreter(path)}`
    : `"${program}" does not exist. Check the path${isAbsolute(program) ? '' : '; a relative one starts at the working directory'}.`
  return { code: 'NOT_FOUND', message }
}

function explainInterpreter(path: string): string {
  return /^#![^\n]*\r\n/.test(beginningOf(path))
    ? 'has the line ends of Windows (CR LF), with which its interpreter is not found. Write it with LF (dos2unix).'
    : 'exists, but the interpreter its first line names does not. Check the #! line.'
}

/** Of a file that the system took for a program. Empty when it may be executed, but not read. */
function beginningOf(path: string): string {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const beginning = Buffer.alloc(256)
      return beginning.toString('latin1', 0, readSync(descriptor, beginning))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ''
  }
}
