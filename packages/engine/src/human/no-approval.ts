import { join } from 'node:path'
import type { RunSummary } from '@delta/journal/runs'
import { responseLyingIn } from './interaction.js'

const ONLY_A_DECISION = 'does not approve it: that takes a decision with its request id.'

/** What to say of a message or `response.txt` while a command waits for a decision; undefined when there is neither. */
export function noApproval(
  { humanRequest, directory }: RunSummary,
  message: string | undefined,
): string | undefined {
  if (humanRequest?.argv === undefined) return undefined
  if (message !== undefined)
    return `A command waits for approval, and a message ${ONLY_A_DECISION}\nThe message is kept as a further instruction, which the agent reads after the decision.`
  const response = responseLyingIn(join(directory, 'interaction'))
  return response && `A command waits for approval, and ${response} ${ONLY_A_DECISION}`
}
