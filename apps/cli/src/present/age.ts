const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago something was, in one unit: `5s`, `3m`, `2h`, `4d`; `?` for no time. Never negative, whatever the clock did. */
export function age(then: number, now: number): string {
  if (Number.isNaN(then)) return '?' // a timestamp that somebody edited
  const passed = Math.max(0, now - then)
  if (passed < MINUTE) return `${Math.floor(passed / SECOND)}s`
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)}m`
  if (passed < DAY) return `${Math.floor(passed / HOUR)}h`
  return `${Math.floor(passed / DAY)}d`
}
