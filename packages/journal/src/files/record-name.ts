let lastMs = 0

/**
 * A name for a record file: `20261120T093000123_<label>`, without an extension.
 *
 * No two calls of one process return the same name, even when the clock stands
 * still or goes backwards. Whatever the label holds, the name is one safe path
 * component: other characters than letters, digits, `_` and `-` become `-`.
 *
 * @param options.labelFirst - `<label>_20261120T093000123`: sorted by what they are of, then by time.
 */
export function recordName(
  time: Date,
  label: string,
  options: { labelFirst?: boolean | undefined } = {},
): string {
  const parts = [recordStamp(time), safeLabel(label)]
  return (options.labelFirst ? parts.reverse() : parts).join('_')
}

/** The time alone, a millisecond later than the last one when it would repeat it. */
export function recordStamp(time: Date): string {
  lastMs = Math.max(time.getTime(), lastMs + 1)
  return new Date(lastMs).toISOString().replace(/[-:.Z]/g, '')
}

function safeLabel(label: string): string {
  return label.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 64) || 'unnamed'
}
