import { SnapshotError } from './errors.js'
import { type Objects, startGit } from './git.js'

/** Gets contents as they come. What it throws ends the reading. */
export interface Receiver {
  /** Before the first piece of the blob with this index, also of an empty one. */
  onBegin?: (index: number, size: number) => void
  onPiece: (index: number, piece: Buffer) => void
  /** After the last piece. */
  onEnd?: (index: number) => void
}

/**
 * Reads contents from the store, one after the other.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DAMAGED`: the store lacks one of them. What `startGit` and the receiver throw.
 */
export async function readBlobs(objects: Objects, ids: string[], receiver: Receiver): Promise<void> {
  if (ids.length === 0) return
  const { child, ended } = await startGit(objects, ['cat-file', '--batch', '--buffer'])
  child.stdin.end(ids.map((id) => `${id}\n`).join(''))
  const parser = parserFor(ids, receiver)
  try {
    for await (const piece of child.stdout) parser.add(piece)
  } catch (error) {
    child.kill()
    await ended.catch(() => {}) // it was ended by us
    throw error
  }
  await ended
  parser.end()
}

/** Reads `<id> blob <size>`, a newline, the contents and a newline, for each id. */
function parserFor(ids: string[], { onBegin, onPiece, onEnd }: Receiver) {
  let index = 0
  let header = ''
  /** Bytes of the contents that are still to come; undefined within a header. */
  let left: number | undefined

  function takeHeader(bytes: Buffer): number {
    const end = bytes.indexOf(10)
    header += bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
    if (end < 0) return bytes.length
    const [, id, size] = /^([0-9a-f]{40}) blob (\d+)$/.exec(header) ?? []
    if (id === undefined || id !== ids[index]) throw lacking(ids[index], header)
    header = ''
    left = Number(size)
    onBegin?.(index, left)
    return end + 1
  }

  function takeContents(bytes: Buffer, remaining: number): number {
    if (remaining > 0) {
      const piece = bytes.subarray(0, remaining)
      onPiece(index, piece)
      left = remaining - piece.length
      return piece.length
    }
    onEnd?.(index) // what stands here is the newline behind the contents
    index += 1
    left = undefined
    return 1
  }

  return {
    add(bytes: Buffer): void {
      for (let at = 0; at < bytes.length; ) {
        const rest = bytes.subarray(at)
        at += left === undefined ? takeHeader(rest) : takeContents(rest, left)
      }
    },
    end(): void {
      if (index < ids.length) throw lacking(ids[index], 'it ended early')
    },
  }
}

function lacking(id: string | undefined, words: string): SnapshotError {
  return new SnapshotError('ERR_SNAPSHOT_DAMAGED', `The store lacks the contents ${id}: git says ${words}.`)
}
