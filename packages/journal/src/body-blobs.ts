import { readBlob } from './blobs.js'

/** Stands in a recorded body for a string that ends in the base64 of a blob: what comes before it, and the blob's SHA-256. */
interface BlobString {
  $blob: string
  prefix: string
}

/** The same body with names of blobs in the place of their base64, so that an image is on disk once however often it is sent. */
export function withoutBlobs(body: object, directory: string, blobs: readonly string[]): object {
  const known = blobs.map((sha256) => ({ sha256, text: base64Of(directory, sha256) }))
  const named = known.filter(({ text }) => text !== '') // every string ends in an empty one
  return changed(body, (value) => {
    const found = typeof value === 'string' && named.find(({ text }) => value.endsWith(text))
    if (!found) return value
    return { $blob: found.sha256, prefix: value.slice(0, -found.text.length) } satisfies BlobString
  }) as object
}

/** The body as it was sent. Only names in `blobs` are names: a model may write anything. */
export function withBlobs(body: unknown, directory: string, blobs: ReadonlySet<string>): unknown {
  if (blobs.size === 0) return body
  return changed(body, (value) => {
    const { $blob = '', prefix } = Object(value) as Partial<BlobString>
    return blobs.has($blob) && typeof prefix === 'string' ? prefix + base64Of(directory, $blob) : value
  })
}

/** A copy of a value of JSON, in which each value within is changed first. */
function changed(value: unknown, change: (value: unknown) => unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, inner) => change(inner))
}

function base64Of(directory: string, sha256: string): string {
  return Buffer.from(readBlob(directory, sha256)).toString('base64')
}
