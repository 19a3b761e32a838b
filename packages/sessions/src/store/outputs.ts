import { removeFile } from '@delta/durable'
import { type CapturedOutput, type CommandOutcome, type Redactor, redactFile } from '@delta/executor/command'
import { noticeUnless } from '../errors.js'

/**
 * Removes outputs that are whole in the result, and takes secrets out of the others. What something
 * still writes to stays, as it is written.
 *
 * @returns What could not be done, in words.
 */
export function tidyOutputs(
  { stdout, stderr }: CommandOutcome,
  {
    inUse,
    isWhole,
    redactor,
  }: { inUse: boolean; isWhole: (output: CapturedOutput) => boolean; redactor: Redactor },
): string[] {
  if (inUse) return []
  const tidy = ({ path, ...output }: CapturedOutput) => {
    if (path === undefined) return
    if (isWhole(output)) removeFile(path)
    else if (redactor.active) redact(path, redactor)
  }
  return [stdout, stderr].flatMap((output) =>
    noticeUnless(() => tidy(output), 'What this command printed could not be tidied up'),
  )
}

/** On a full disk there is no room for a copy without the secrets; then nothing is kept. */
function redact(path: string, redactor: Redactor): void {
  try {
    redactFile(path, redactor)
  } catch (error) {
    removeFile(path)
    throw error
  }
}
