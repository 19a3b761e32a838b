import { type CapturedOutput, type CommandOutcome, type Redactor, redactFile } from '@delta/executor/command'
import { removeFile } from './files.js'

/**
 * Removes outputs that are whole in the result, and takes secrets out of the others. What something
 * still writes to stays, as it is written.
 */
export function tidyOutputs(
  { stdout, stderr }: CommandOutcome,
  { inUse, redactor }: { inUse: boolean; redactor: Redactor },
): void {
  if (inUse) return
  for (const output of [stdout, stderr]) tidy(output, redactor)
}

function tidy({ path, omittedBytes }: CapturedOutput, redactor: Redactor): void {
  if (path === undefined) return
  if (omittedBytes === 0) removeFile(path)
  else if (redactor.active) redactFile(path, redactor)
}
