const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The longest that a timer can wait: 24 days. */
const LONGEST_MS = 2_147_483_647

/**
 * `"60s"`, `"1.5m"` or `"200ms"` in milliseconds; undefined for anything else. Also for 0: where a limit of 0 means "none",
 * metadata must not be able to lift it.
 */
export function durationMs(text: string | undefined): number | undefined {
  const [, digits, unit = ''] =
    /^(\d{1,9}(?:\.\d{1,3})?)\s?(ms|s|m|h)$/.exec(typeof text === 'string' ? text : '') ?? []
  const factor = UNITS[unit]
  if (digits === undefined || factor === undefined) return undefined
  return Math.min(Math.round(Number(digits) * factor), LONGEST_MS) || undefined
}
