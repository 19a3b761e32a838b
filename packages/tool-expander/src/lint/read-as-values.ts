import { compileShell } from '../shell/compile.js'
import { CHECK_NUMBER } from '../shell/opaque.js'
import { isSplit, type Scan } from '../shell/scan.js'
import { countUpTo } from './count-up-to.js'

// A script is read once more, with placeholders where variables stand that hold values. What would be refused then is what
// the shell makes of those variables: nothing has to be known twice.

/** A text that holds a value when the script runs: `$x`, or `x` in arithmetic. */
export interface Stand {
  offset: number
  length: number
  /** As it is written. */
  written: string
  /** It only means a variable where the shell computes. */
  isComputed?: boolean
}

/** The script with values in it, as far as it could be followed. */
export interface Reading {
  template: string
  scan: Scan
  /** What would be refused; where a number is wanted, there is another way out. */
  refused: { stand: Stand; offset: number; isNumber: boolean; isSplit: boolean }[]
  /** What belongs to a function. */
  inFunction: Set<Stand>
  /** Where a place of it stands in the script that was read. */
  offsetBefore: (offset: number) => number
}

/** No author gives a parameter this name. */
const NAME = '__held__'
/** Without quotes around it a variable is split, as a raw value is; inside of quotes `:raw` means nothing. */
const PLACEHOLDER = `\${${NAME}:raw}`
/** Places where only what is split is refused. */
const SPLIT_IN = /the words of (?:\[|test|wait):|a script for \S+:/

/** Reads a script with values in place of some of its text. */
export function readAsValues(template: string, stands: readonly Stand[]): Reading {
  const ordered = [...stands].sort((a, b) => a.offset - b.offset)
  const placed = new Map<number, Stand>()
  let text = ''
  let end = 0
  for (const stand of ordered) {
    // ${y:x:1} is one where both hold values.
    if (stand.offset < end) continue
    text += template.slice(end, stand.offset)
    placed.set(text.length, stand)
    text += PLACEHOLDER
    end = stand.offset + stand.length
  }
  text += template.slice(end)
  const { scan } = compileShell(text)
  const split = new Set(scan.found.filter(isSplit).map(({ offset }) => offset))
  const complaints = scan.complaints.flatMap(([offset, code, message, hint]) => {
    const stand = placed.get(offset)
    const isNumber = hint === CHECK_NUMBER || /arithmetic|subscript|computes|of let\b/.test(message)
    const isSplit = split.has(offset) && SPLIT_IN.test(message)
    return stand ? [{ stand, offset, code, isNumber, isSplit }] : []
  })
  const inFunction = complaints.flatMap(({ stand, code }) => (code === 'ERR_SHELL_POSITIONAL' ? [stand] : []))
  const seen = new Set(scan.found.map(({ offset }) => offset))
  const refused = complaints.filter(
    ({ stand, offset, code }) => code === 'ERR_SHELL_CODE' && !(stand.isComputed && seen.has(offset)),
  )
  return { template: text, scan, refused, inFunction: new Set(inFunction), offsetBefore: before(placed) }
}

function before(placed: ReadonlyMap<number, Stand>): (offset: number) => number {
  const starts = [...placed.keys()]
  return (offset) => {
    const start = starts[countUpTo(starts, offset) - 1]
    const stand = start === undefined ? undefined : placed.get(start)
    if (start === undefined || !stand) return offset
    const beyond = offset - start - PLACEHOLDER.length
    return beyond < 0 ? stand.offset : stand.offset + stand.length + beyond
  }
}
