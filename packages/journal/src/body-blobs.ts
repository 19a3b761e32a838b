import { readBlob } from './blobs.js'

/** Stands in a recorded body for a string that ends in the base64 of a blob: what comes before it, and the blob's SHA-256. */
interface BlobString {
  $blob: string
  prefix: string
}

/** The same body with names of blobs in the place of their base64, so that an image is on disk once however often it is sent. */
export function withoutBlobs(body: object, directory: string, blobs: readonly string[]): object {
  const known = blobs.map((sha256) => ({ sha256, text: base64Of(directory, sha256) }))
  return mapStrings(body, (text) => {
    const found = known.find((blob) => text.endsWith(blob.text))
    if (!found) return text
    return { $blob: found.sha256, prefix: text.slice(0, -found.text.length) } satisfies BlobString
  }) as object
}

/** The body as it was sent. Only names in `blobs` are names: a model may write anything. */
export function withBlobs(body: unknown, directory: string, blobs: ReadonlySet<string>): unknown {
  if (blobs.size === 0 || typeof body !== 'object' || body === null) return body
  if (Array.isArray(body)) return body.map((each) => withBlobs(each, directory, blobs))
  const { $blob, prefix } = body as Partial<BlobString>
  if ($blob !== undefined && blobs.has($blob) && typeof prefix === 'string')
    return prefix + base64Of(directory, $blob)
  const entries = Object.entries(body).map(([name, value]) => [name, withBlobs(value, directory, blobs)])
  return Object.fromEntries(entries)
}

function mapStrings(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapStrings(each, change)]))
}

function base64Of(directory: string, sha256: string): string {
  return Buffer.from(readBlob(directory, sha256)).toString('base64')
}
