import { isObject } from './is-object.js'
import type { AtipTool, AtipVersion } from './metadata.js'

/** The newest version of the specification that this package acts on. */
export const NEWEST = '0.6'

/**
 * What to tell a person about metadata of a version nobody here has read about: it is used all the same, but a new member, an
 * effect say, means nothing. Undefined for the versions that are known.
 */
export function versionNotice(tool: Pick<AtipTool, 'atip'>): string | undefined {
  const { atip } = tool
  const version = isObject(atip) ? atip.version : atip
  if (typeof version !== 'string') return `ATIP metadata without a version is read as ${NEWEST}.`
  if (!/^\d+(\.\d+)*$/.test(version)) return `"${version}" is not a version of ATIP; it is read as ${NEWEST}.`
  return isNewer(version)
    ? `This is ATIP ${version}; what is newer than ${NEWEST} in it has no effect here.`
    : undefined
}

/** The version that the metadata wants its reader to know, if nobody here does. */
export function neededVersion(atip: AtipVersion): string | undefined {
  const needed = typeof atip === 'object' ? atip.minAgentVersion : undefined
  return needed !== undefined && isNewer(needed) ? needed : undefined
}

/** By numbers, so that 0.10 is newer than 0.9. */
function isNewer(version: string): boolean {
  return version.localeCompare(NEWEST, 'en', { numeric: true }) > 0
}
