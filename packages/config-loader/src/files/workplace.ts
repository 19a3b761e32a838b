import { isAbsolute, join, relative, sep } from 'node:path'
import type { Findings } from '../findings.js'
import { parseFile, type YamlFile } from '../yaml/file.js'
import { readText, type Unreadable } from './read-text.js'

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
  const { problems, ...parsed } = parseFile(read.text, { path, name })
  findings.problems.push(...problems)
  return { exists: true, ...parsed }
}
