/**
 * How a person allows or refuses the command that a run waits with.
 *
 * @param goOn - The command line that takes the run up again.
 */
export function waysToDecide(goOn: string, requestId: string): string[] {
  return [
    `Allow it with: ${goOn} --approve ${requestId}`,
    'To refuse it, write --deny in place of --approve.',
  ]
}
