import type { ContextSource } from './manifest.js'

/** The name of a source in messages, records and block headers: its id, else its path without a leading variable, else its type. */
export function sourceName(source: ContextSource): string {
  if (source.id !== undefined) return source.id
  switch (source.type) {
    case 'file':
      return withoutVariable(source.path)
    case 'computed_file':
      return withoutVariable(source.outputPath)
    default:
      return source.type
  }
}

function withoutVariable(path: string): string {
  return path.replace(/^\$\{\w+\}\//, '')
}
