import { isAbsolute, join, relative, sep } from 'node:path'
import type { Findings } from '../findings.js'
import { knownFile, parseFile, type YamlFile } from '../yaml/file.js'
import type { MadeFiles } from './load-cache.js'
import { readText, type Unreadable } from './read-text.js'

/** The directory that is being loaded, and how paths in it are shown. */
export interface Workplace {
  /** Absolute, symbolic links resolved. */
  home: string
  /** As the caller wrote it. */
  shown: string
  /** What an earlier load has made of the same files. */
  cache?: MadeFiles | undefined
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

/** Reads a YAML file and reports what is wrong with it. Neither `file` nor `guess`: it is missing, or cannot be used. */
export function readYaml(
  path: string,
  workplace: Workplace,
  findings: Findings,
  /** Says that a file that is there cannot be read. Default: at the file itself. */
  unreadable: (failure: Unreadable, name: string) => void = ({ message }, name) =>
    findings.error({ file: name }, `${message}.`),
): { exists: boolean; file?: YamlFile; guess?: YamlFile } {
  const name = displayName(workplace, path)
  const read = readText(path)
  if (!read.ok) {
    if (read.reason === 'missing') return { exists: false }
    unreadable(read, name)
    return { exists: true }
  }
  const { text } = read
  const known = workplace.cache?.find(path, text)
  if (known !== undefined) return { exists: true, file: knownFile(text, { path, name }, known.value) }
  const { problems, ...parsed } = parseFile(text, { path, name })
  findings.problems.push(...problems)
  if (parsed.file !== undefined) workplace.cache?.remember(path, text, parsed.file.value)
  return { exists: true, ...parsed }
}
