import { isAbsolute, join, relative, sep } from 'node:path'
import type { Findings } from './findings.js'
import { readText } from './read-text.js'
import { parseJsonOrYaml, type YamlFile } from './yaml-file.js'

/** The directory that is being loaded, and how paths in it are shown. */
export interface Workplace {
  /** Absolute, symbolic links resolved. */
  home: string
  /** As the caller wrote it. */
  shown: string
}

/** The path as the person would type it: under the directory they gave, or absolute if it lies elsewhere. */
export function displayName({ home, shown }: Workplace, path: string): string {
  return isInside(path, home) ? join(shown, relative(home, path)) : path
}

/** Compares absolute, resolved paths; a directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Reads a YAML file and reports what is wrong with it. Undefined if it is missing or cannot be used. */
export function readYaml(
  path: string,
  workplace: Workplace,
  findings: Findings,
): { exists: boolean; file?: YamlFile } {
  const name = displayName(workplace, path)
  const read = readText(path)
  if (!read.ok) {
    if (read.reason === 'missing') return { exists: false }
    findings.error({ file: name }, `${read.message}.`)
    return { exists: true }
  }
  const parsed = parseJsonOrYaml(read.text, { path, name })
  if (parsed.ok) return { exists: true, file: parsed.file }
  findings.problems.push(...parsed.problems)
  return { exists: true }
}
