/** A line of a unified diff: `kind` tells how it is coloured, `old` and `new` number it in its files. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'hunk' | 'file'
  text: string
  old?: number
  new?: number
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Reads a unified diff. The `-`, `+` or space at the beginning of a line is not part of `text`. */
export function parseUnifiedDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let place: { old: number; new: number } | undefined
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [, old, fresh] = HUNK.exec(line) ?? []
    if (old !== undefined) place = { old: Number(old), new: Number(fresh) }
    if (old !== undefined) lines.push({ kind: 'hunk', text: line })
    else if (place === undefined || /^(diff --git |Index: )/.test(line)) {
      lines.push({ kind: 'file', text: line })
      place = undefined
    } else if (line.startsWith('+')) lines.push({ kind: 'added', text: line.slice(1), new: place.new++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text: line.slice(1), old: place.old++ })
    else if (line.startsWith('\\')) lines.push({ kind: 'file', text: line })
    else lines.push({ kind: 'same', text: line.slice(1), old: place.old++, new: place.new++ })
  }
  return lines
}

/** The most lines of two texts that are compared line by line. */
const MOST_LINES = 400

/**
 * Compares two texts line by line, with up to `context` lines around what changed; for the request of a step beside the one before.
 * What is longer than 400 changed lines is shown as removed and added whole.
 */
export function diffLines(before: string, after: string, context = 3): DiffLine[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < left.length && start < right.length && left[start] === right[start]) start++
  let end = 0
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end++
  const middle = compared(left.slice(start, left.length - end), right.slice(start, right.length - end), start)
  if (middle.length === 0) return []
  const head = left.slice(Math.max(0, start - context), start)
  const from = start - head.length
  const tail = left.slice(left.length - end, left.length - end + context)
  return [
    ...(from > 0 ? [hunk(`… ${from} lines the same`)] : []),
    ...head.map((text, index) => same(text, from + index + 1, from + index + 1)),
    ...middle,
    ...tail.map((text, index) => same(text, left.length - end + index + 1, right.length - end + index + 1)),
    ...(end > context ? [hunk(`… ${end - context} lines the same`)] : []),
  ]
}

function compared(left: string[], right: string[], offset: number): DiffLine[] {
  const removed = (text: string, index: number): DiffLine => ({
    kind: 'removed',
    text,
    old: offset + index + 1,
  })
  const added = (text: string, index: number): DiffLine => ({ kind: 'added', text, new: offset + index + 1 })
  if (left.length > MOST_LINES || right.length > MOST_LINES)
    return [...left.map(removed), ...right.map(added)]
  const common = longestCommon(left, right)
  const lines: DiffLine[] = []
  let [one, other] = [0, 0]
  while (one < left.length || other < right.length) {
    const isSame = one < left.length && other < right.length && left[one] === right[other]
    if (isSame) lines.push(same(left[one] as string, offset + one++ + 1, offset + other++ + 1))
    else if (
      other >= right.length ||
      (one < left.length && at(common, one + 1, other) >= at(common, one, other + 1))
    )
      lines.push(removed(left[one] as string, one++))
    else lines.push(added(right[other] as string, other++))
  }
  return lines
}

/** `[i][j]`: how many lines the texts from line i and line j on have in common. */
function longestCommon(left: string[], right: string[]): number[][] {
  const common = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0))
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      (common[i] as number[])[j] =
        left[i] === right[j]
          ? at(common, i + 1, j + 1) + 1
          : Math.max(at(common, i + 1, j), at(common, i, j + 1))
  return common
}

function at(table: number[][], row: number, column: number): number {
  return table[row]?.[column] ?? 0
}

function same(text: string, old: number, fresh: number): DiffLine {
  return { kind: 'same', text, old, new: fresh }
}

function hunk(text: string): DiffLine {
  return { kind: 'hunk', text }
}
