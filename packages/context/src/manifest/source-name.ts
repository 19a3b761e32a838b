import type { ContextSource } from './manifest.js'

/** The name of a source in messages, records and block headers: its id, else its path as written. */
export function sourceName(source: ContextSource): string {
  if (source.id !== undefined) return source.id
  switch (source.type) {
    case 'file':
      return source.path
    case 'computed_file':
      return source.outputPath
    default:
      return source.type
  }
}
