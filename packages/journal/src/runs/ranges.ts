/** Numbers in order as pairs of first and last: mostly one pair. */
export type Ranges = [number, number][]

/** Lengthens the last pair by its successor, or begins another. */
export function addToRanges(ranges: Ranges, number: number): void {
  const last = ranges.at(-1)
  if (last && number === last[1] + 1) last[1] = number
  else ranges.push([number, number])
}

export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
}
