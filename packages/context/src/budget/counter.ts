import { ContextError } from '../errors.js'
import type { ContextCommand } from '../manifest/manifest.js'
import { type CommandContext, describeEnd, runContextCommand } from '../sources/context-command.js'
import type { CountTokens } from './meter.js'

export const PROGRAM = 'context.yaml: the token counter'

/**
 * A program that counts tokens: it reads one JSON string a line, and prints one number a line.
 *
 * It runs once for all texts that are to be counted together.
 *
 * @throws {ContextError} `ERR_CONTEXT_COUNTER`: it failed, or printed something else. `ERR_CONTEXT_ABORTED`.
 */
export function commandCounter(command: ContextCommand, context: CommandContext): CountTokens {
  return async (texts) => {
    if (texts.length === 0) return []
    const stdin = `${texts.map((text) => JSON.stringify(text)).join('\n')}\n`
    const outcome = await runContextCommand(command, context, stdin)
    if (outcome.status === 'ABORTED') throw new ContextError('ERR_CONTEXT_ABORTED', `${PROGRAM} was stopped.`)
    if (outcome.status !== 'EXITED' || outcome.exitCode !== 0)
      throw failure(`${PROGRAM} ${describeEnd(outcome, command)}`)

    const lines = outcome.stdout.text.trim().split('\n')
    const counts = lines.map((line) => (line.trim() === '' ? Number.NaN : Number(line))) // an empty one would be 0
    return counts
  }
}

export function failure(what: string): ContextError {
  const hint =
    'A token_counter reads a JSON string a line, and prints a number a line. Without one, tokens are estimated.'
  return new ContextError('ERR_CONTEXT_COUNTER', `${what}.\n${hint}`)
}
