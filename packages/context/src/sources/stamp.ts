import type { BigIntStats } from 'node:fs'

/** Some clocks of file systems tick as rarely as this: what was written since may be written again unnoticed. */
const TICK_MS = 50

/** Changes whenever a file is written or replaced, even with the same text; see `isSettled`. */
export function stampOf({ mtimeNs, ctimeNs, size, ino }: BigIntStats): string {
  return `${mtimeNs} ${ctimeNs} ${size} ${ino}`
}

/** True if the next write is sure to change the file's stamp. */
export function isSettled({ mtimeMs, ctimeMs }: BigIntStats): boolean {
  const latest = mtimeMs > ctimeMs ? mtimeMs : ctimeMs
  return Date.now() - Number(latest) > TICK_MS
}
