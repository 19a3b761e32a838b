import type { AtipTool, TrustSource } from './metadata.js'

/** How much each source is trusted; a higher number is more. */
export const TRUST_LEVEL_ORDER: Record<TrustSource, number> = {
  native: 6,
  vendor: 5,
  org: 4,
  community: 3,
  user: 2,
  inferred: 1,
}

/** Where metadata says it comes from. Metadata that says nothing is `inferred`. */
export function trustOf(tool: AtipTool): TrustSource {
  return tool.trust?.source ?? 'inferred'
}

/** The trust metadata gets when an importer vouches for `granted`: never more than either says. */
export function lowerTrust(claimed: TrustSource, granted: TrustSource): TrustSource {
  return TRUST_LEVEL_ORDER[claimed] <= TRUST_LEVEL_ORDER[granted] ? claimed : granted
}
