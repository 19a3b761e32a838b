import { isAbsolute } from 'node:path'
import type { BuildOptions } from './build.js'
import { ContextError } from './errors.js'
import { VARIABLE_NAMES } from './variables.js'

// For callers without a type checker: said here, before a missing option becomes the text "undefined" in a context.

/** @throws {ContextError} `ERR_CONTEXT_USAGE`, naming the first option that is missing. */
export function checkOptions(options: BuildOptions): void {
  const { journalPath, variables, environment, iteration, task }: Partial<BuildOptions> = options ?? {}
  const isJournal = typeof journalPath === 'string' || typeof journalPath === 'object'
  if (!isJournal || journalPath === null)
    refuse('journalPath', "a path, as in '.delta/<run>/journal.jsonl', or events")
  for (const name of VARIABLE_NAMES) {
    const value: unknown = variables?.[name as keyof typeof variables]
    if (typeof value !== 'string' || !isAbsolute(value)) refuse(`variables.${name}`, 'an absolute path')
  }
  if (typeof environment !== 'object' || environment === null)
    refuse('environment', 'process.env, or a part of it')
  if (!Number.isInteger(iteration)) refuse('iteration', 'a whole number, 1 for the first')
  if (typeof task !== 'string') refuse('task', 'a text: what users said in this run')
}

function refuse(option: string, wanted: string): never {
  throw new ContextError(
    'ERR_CONTEXT_USAGE',
    `buildContext: the option ${option} is missing, or not what it must be.\nPass ${wanted}.`,
  )
}
