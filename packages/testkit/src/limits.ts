/**
 * Tries something with a short time limit, and with longer ones as long as the limit came before `hasBegun`: how soon a
 * program begins is the machine's affair, and what a limit interrupts must have begun.
 *
 * @returns What the last attempt came to, and its limit.
 */
export async function tryLimits<Outcome>(
  attempt: (limitMs: number) => Promise<Outcome>,
  hasBegun: () => boolean,
): Promise<[outcome: Outcome, limitMs: number]> {
  for (let limitMs = 250; ; limitMs *= 4) {
    const outcome = await attempt(limitMs)
    if (hasBegun() || limitMs > LONGEST_MS) return [outcome, limitMs]
  }
}

const LONGEST_MS = 10_000
