/** Numbers in order as pairs of first and last: mostly one pair. */
export type Ranges = [number, number][]

/** Runs of consecutive numbers. */
export function toRanges(numbers: readonly number[]): Ranges {
  const ranges: Ranges = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

export function fromRanges(ranges: readonly (readonly [number, number])[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  )
}
