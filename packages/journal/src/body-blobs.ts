import { readBlob } from './blobs.js'

/** Stands in a recorded body for a string that ends in the base64 of a blob: what comes before it, and the blob's SHA-256. */
interface BlobString {
  $blob: string
  prefix: string
}

/** A key that a model or an author wrote gets one `$` more in the record, so that only ours is `$blob`. */
const WRITTEN = /^\$+blob$/

/** True for a body whose record is not the body itself. `text` is the body as JSON. */
export function needsNames(text: string, blobs: readonly string[]): boolean {
  return blobs.length > 0 || text.includes('$blob"')
}

/** The same body with names of blobs in the place of their base64, so that an image is on disk once however often it is sent. */
export function withoutBlobs(body: object, directory: string, blobs: readonly string[]): object {
  const known = blobs
    .map((sha256) => ({ sha256, text: base64Of(directory, sha256) }))
    .filter(({ text }) => text !== '') // every string ends with that of an empty file
  const shorten = (value: unknown): unknown => {
    if (typeof value !== 'string')
      return mapValues(value, shorten, (name) => (WRITTEN.test(name) ? `$${name}` : name))
    const found = known.find((blob) => value.endsWith(blob.text))
    if (!found) return value
    return { $blob: found.sha256, prefix: value.slice(0, -found.text.length) } satisfies BlobString
  }
  return shorten(body) as object
}

/** The body as it was sent. */
export function withBlobs(body: unknown, directory: string, blobs: ReadonlySet<string>): unknown {
  const { $blob, prefix } = Object(body) as Partial<BlobString>
  if ($blob !== undefined && blobs.has($blob) && typeof prefix === 'string')
    return prefix + base64Of(directory, $blob)
  const restore = (value: unknown) => withBlobs(value, directory, blobs)
  return mapValues(body, restore, (name) => (/^\$\$+blob$/.test(name) ? name.slice(1) : name))
}

function mapValues(
  value: unknown,
  change: (value: unknown) => unknown,
  rename: (name: string) => string,
): unknown {
  if (Array.isArray(value)) return value.map(change)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [rename(name), change(each)]))
}

function base64Of(directory: string, sha256: string): string {
  return Buffer.from(readBlob(directory, sha256)).toString('base64')
}
