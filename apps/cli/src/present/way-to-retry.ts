import { retryOf } from '@delta/engine'

/**
 * The line that says how a failed run goes on: with --retry or, where that is refused, with a message.
 *
 * @param goOn - The command line that takes the run up again.
 */
export function wayToRetry(
  goOn: string,
  about: { reasonCode: string | undefined; maxIterations: number | undefined; onceFixed?: boolean },
): string {
  const { reasonCode, maxIterations } = about
  const retry = retryOf(reasonCode, maxIterations)
  if (!retry) return `Go on with: ${goOn} -m "Go on"`
  const verb = reasonCode === 'limit_iterations' ? 'go on' : 'retry'
  const isOnceFixed = about.onceFixed ?? retry.onceFixed
  const way = isOnceFixed ? `Once that is fixed, ${verb}` : `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`
  const limit = retry.maxIterations === undefined ? '' : ` --max-iterations ${retry.maxIterations}`
  return `${way} with: ${goOn} --retry${limit}`
}
