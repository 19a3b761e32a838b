import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import picomatch from 'picomatch'

/** True for `sites/*`; false for a path, or an id. */
export function isGlob(text: string): boolean {
  return picomatch.scan(text).isGlob
}

/** The directories that a glob names, sorted; as it does, relative to `from` or absolute. A `*` names none that begins with a dot. */
export function directoriesMatching(glob: string, from: string): string[] {
  const written = glob.replace(/\/+$/, '')
  const { base, glob: variable } = picomatch.scan(written)
  const isMatch = picomatch(written)
  const below = (path: string, depth: number): string[] =>
    depth === 0
      ? []
      : directoriesIn(resolve(from, path)).flatMap((name) => {
          const inner = path === '' ? name : `${path === '/' ? '' : path}/${name}`
          return [...(isMatch(inner) ? [inner] : []), ...below(inner, depth - 1)]
        })
  const levels = variable.includes('**') ? Number.POSITIVE_INFINITY : variable.split('/').length
  return below(base, levels).sort()
}

function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? entry.name : [],
    )
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
