import type { Setting } from '@delta/config-loader'
import { table } from './table.js'

/** Two columns: where a value comes from, and `path: value`, the value as JSON; below it, what it replaces. */
export function describeSettings(settings: readonly Setting[], screen?: number): string {
  const rows = settings.flatMap(({ path, value, origin, replaces = [] }) => [
    [origin, `${path}: ${JSON.stringify(value)}`],
    ...replaces.map((replaced) => [replaced, `${path}: replaced by ${origin}`]),
  ])
  return table([['ORIGIN', 'SETTING'], ...rows], screen)
}
