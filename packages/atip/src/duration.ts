const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `"60s"`, `"1.5m"` or `"200ms"` in milliseconds; undefined for anything else. */
export function durationMs(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s?(ms|s|m|h)$/.exec(text ?? '') ?? []
  const factor = UNITS[unit]
  return digits === undefined || factor === undefined ? undefined : Math.round(Number(digits) * factor)
}
