/**
 * How a person allows or refuses the command that a run waits with.
 *
 * @param goOn - The command line that takes the run up again.
 */
export function waysToDecide(goOn: string, requestId: string): string[] {
  return [`Allow it:  ${goOn} --approve ${requestId}`, `Refuse it: ${goOn} --deny ${requestId}`]
}
