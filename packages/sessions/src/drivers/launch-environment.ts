import { writeFileSync } from 'node:fs'
import type { Variables } from '../environment.js'

/** They would change how the shell itself starts, so they are set only once it runs. */
const SET_LATE = new Set(['BASH_ENV', 'ENV', 'POSIXLY_CORRECT'])
/** Read-only in a shell, and made anew by each. */
const NOT_SET = new Set(['BASHOPTS', 'SHELLOPTS'])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Splits variables into those a process can be started with, and those the shell must set for
 * itself: Node can pass on only text, and a value need not be valid UTF-8.
 *
 * @param scriptPath - A file the shell is to source; written only if there is something in it.
 */
export function launchEnvironment(
  variables: Variables,
  scriptPath: string,
): { env: Record<string, string>; script: string | undefined } {
  const env: Record<string, string> = {}
  const late: Buffer[] = []
  for (const [name, value] of variables) {
    const text = value.toString('utf8')
    if (NOT_SET.has(name)) continue
    if (!SET_LATE.has(name) && Buffer.from(text).equals(value)) env[name] = text
    else if (NAME.test(name)) late.push(Buffer.from(`export ${name}=`), quoteBytes(value), Buffer.from('\n'))
  }
  if (late.length === 0) return { env, script: undefined }
  writeFileSync(scriptPath, Buffer.concat(late), { mode: 0o600 })
  return { env, script: scriptPath }
}

/** Bytes as one word of a shell. */
function quoteBytes(bytes: Buffer): Buffer {
  // latin1 maps every byte to one character and back, so that bytes can be handled as text.
  return Buffer.from(quote(bytes.toString('latin1')), 'latin1')
}

/** A text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The command that prints a shell's environment, NUL-separated, without the secrets in it. */
export function printEnvironment(secretNames: readonly string[]): string {
  return ['/usr/bin/env -0', ...secretNames.map((name) => `-u ${name}`)].join(' ')
}
