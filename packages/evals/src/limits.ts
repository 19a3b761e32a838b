import type { Limits } from '@delta/config-loader'
import { wallTimeInWords } from '@delta/config-loader/internal'
import { timeInWords } from '@delta/model/internal'
import type { CellLimits } from './types.js'

const KINDS = ['wall_time', 'tokens', 'cost'] as const
export type LimitKind = (typeof KINDS)[number]

/** The lowest limit of each kind. */
export function lowestLimits(...all: readonly CellLimits[]): CellLimits {
  const lowest = KINDS.map((kind) => {
    const written = all.map((limits) => limits[kind]).filter((each) => each !== undefined)
    return [kind, written.toSorted((one, other) => amountOf(one) - amountOf(other))[0]] as const
  })
  return Object.fromEntries(lowest.filter(([, value]) => value !== undefined))
}

/** The limits of an agent, as they are written. */
export function writtenLimits({ tokens, cost, wallTimeMs }: Limits = {}): CellLimits {
  return {
    ...(wallTimeMs !== undefined && { wall_time: wallTimeInWords(wallTimeMs) }),
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
  }
}

/** As `--set` takes them. */
export function limitsAsOverrides(limits: CellLimits): string[] {
  return KINDS.flatMap((kind) => (limits[kind] === undefined ? [] : [`limits.${kind}=${limits[kind]}`]))
}

/** A limit under which a cell ran and that is lower now. */
export function loweredLimit(before: CellLimits, now: CellLimits): LimitKind | undefined {
  return KINDS.find((kind) => amountOf(now[kind]) < amountOf(before[kind]))
}

/** True if the limit that ended a run is higher now. */
export function isRaised(reason: string | null | undefined, before: CellLimits, now: CellLimits): boolean {
  const kind = KINDS.find((each) => reason === `limit_${each}`)
  return kind !== undefined && amountOf(now[kind]) > amountOf(before[kind])
}

/** Without a limit: infinite. */
function amountOf(limit: string | number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY
  return typeof limit === 'string' ? timeInWords(limit) : limit
}
