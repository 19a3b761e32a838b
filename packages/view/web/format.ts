import type { RunRow } from '../src/api.js'

/** Numbers, times and money as the page writes them: short, and of one width in a column. */

/** `950`, `18k`, `1.2M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 9950) return `${(count / 1000).toFixed(1)}k`
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1e6).toFixed(count < 9.95e6 ? 1 : 0)}M`
}

/** `14,990`. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US')
}

/** US dollars with four digits that count, as `delta cost` prints them. `-`: no price is known. */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return '-'
  if (dollars === 0) return '$0'
  const digits = Math.min(10, Math.max(2, 3 - Math.floor(Math.log10(Math.abs(dollars)))))
  return `$${dollars.toFixed(digits)}`
}

/** Money in a narrow column: `$0.011`, `$1.20`, `$140`. */
export function shortMoney(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return '-'
  if (dollars >= 100) return `$${dollars.toFixed(0)}`
  if (dollars >= 1) return `$${dollars.toFixed(2)}`
  if (dollars === 0) return '$0'
  return dollars < 0.0005 ? '<$0.001' : `$${dollars.toFixed(3)}`
}

/** `8 ms`, `2.1 s`, `3:12`, `1:02:09`, `2 d 4 h`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return ''
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  return clock(ms)
}

/** `0:41`, `3:12`, `1:02:09`, `2 d 4 h`. */
export function clock(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return ''
  const seconds = Math.round(ms / 1000)
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  const tail = `${hours ? two(minutes) : minutes}:${two(rest)}`
  return hours ? `${hours}:${tail}` : tail
}

/** How long ago: `12s`, `2m`, `5h`, `3d`; from 30 days on the date. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (Number.isNaN(seconds)) return ''
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)}d`
  return new Date(at).toISOString().slice(0, 10)
}

/** `312 B`, `14.2 KiB`, `3.1 MiB`. */
export function bytes(size: number): string {
  if (size < 1024) return `${size} B`
  if (size < 1024 ** 2) return `${(size / 1024).toFixed(1)} KiB`
  return `${(size / 1024 ** 2).toFixed(1)} MiB`
}

/** `84 %`. */
export function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((part / whole) * 100)} %`
}

/** `1 step`, `14 steps`. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** A run by the last part of its id: `4be1c2`. */
export function shortId(runId: string): string {
  return runId.split(/[_/]/).at(-1) ?? runId
}

/** A cell by its name, `luna/bowling/3`; any other run by the last part of its id. */
export function runName({ id, cell }: Pick<RunRow, 'id' | 'cell'>): string {
  return cell ? `${cell.variant}/${cell.task}/${cell.repeat}` : shortId(id)
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
