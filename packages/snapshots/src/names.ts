import type { Bytes } from './bytes.js'
import { SnapshotError } from './errors.js'

/** The name of the blob that holds what git lacks of a directory. No other name in the tree is a lone comma. */
export const META_NAME = ','

/** What git would take for its own, in any case and in Windows' short form, and what already begins with the escape. */
const RESERVED = /^(?:,|\.git|git~)/i

/** A name as it stands in the tree. */
function escapeName(name: Bytes): Bytes {
  return RESERVED.test(name) ? `,${name}` : name
}

/** A path as it stands in the tree. */
export function escapePath(path: Bytes): Bytes {
  return path.split('/').map(escapeName).join('/')
}

/**
 * The path of an entry of the tree.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DAMAGED`: the path would lead out of the directory, or is not one that `take` writes.
 */
export function unescapePath(path: Bytes): Bytes {
  return path
    .split('/')
    .map((stored) => {
      const name = stored.startsWith(',') ? stored.slice(1) : stored
      if (/^\.{0,2}$/.test(name) || name.includes('\0') || escapeName(name) !== stored) throw refusal(path)
      return name
    })
    .join('/')
}

function refusal(path: Bytes): SnapshotError {
  return new SnapshotError(
    'ERR_SNAPSHOT_DAMAGED',
    `The snapshot has the path ${JSON.stringify(path)}, which no snapshot has.`,
  )
}

/** As fast-import reads a path: the only bytes that could end it early are escaped. */
export function quotePath(path: Bytes): Bytes {
  return `"${path.replace(/["\\\n]/g, (byte) => (byte === '\n' ? '\\n' : `\\${byte}`))}"`
}
