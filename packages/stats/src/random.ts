/**
 * Numbers from 0 to below 1 that a seed determines on every machine: mulberry32 (Tommy Ettinger 2017). Good enough to
 * draw samples, not to keep secrets.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
