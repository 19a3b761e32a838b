import { existsSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { isInside, readText, realPath } from './files.js'
import { tildeHint } from './path.js'
import type { Findings } from './problems.js'

/** Directories from which files may be imported: absolute, symbolic links resolved. */
export type Roots = readonly string[]

type ResolvedImport =
  /** `roots`: what the imported file may import from in turn. `root`: the directory that would have to be one. */
  { ok: true; path: string; roots: Roots } | { ok: false; message: string; hint?: string; root?: string }

/**
 * The directories from which an agent may import: its own, and what the person who runs it allows with
 * `--import-root` or `DELTA_IMPORT_ROOTS` (absolute paths, separated as in PATH).
 */
export function importRootsOf(
  home: string,
  {
    importRoots = [],
    environment,
  }: { importRoots?: readonly string[] | undefined; environment: NodeJS.ProcessEnv },
  findings: Findings,
): string[] {
  const named = (environment.DELTA_IMPORT_ROOTS ?? '').split(delimiter).filter((root) => root !== '')
  for (const root of named) {
    if (!isAbsolute(root))
      findings.error({ file: 'DELTA_IMPORT_ROOTS' }, `"${root}" is not an absolute path.`, tildeHint(root))
  }
  const roots = [home]
  for (const root of [...importRoots, ...named.filter(isAbsolute)]) {
    const path = realPath(resolve(root))
    if (path === undefined) findings.warn({ file: root }, 'The import root does not exist.', tildeHint(root))
    else roots.push(path)
  }
  return roots
}

const PACKAGE = /^npm:((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)\/(.+)$/i // no name begins with a dot: none leads upwards

/**
 * Finds the file an `imports:` entry means.
 *
 * A path is relative to the importing file, and what it leads to, symbolic links resolved, must lie inside one
 * of the roots. `npm:<package>/<file>` is looked for in the `node_modules` of the agent's directory and of those
 * around it, as Node does, and must lie inside the package.
 */
export function resolveImport(entry: string, importer: string, home: string, roots: Roots): ResolvedImport {
  if (entry.startsWith('npm:')) return resolvePackage(entry, home, roots)
  if (/^[a-z][a-z0-9+.-]+:/i.test(entry)) {
    const hint = 'Save it beside the agent and import that file, so that what runs is what you have read.'
    return { ok: false, message: `"${entry}" is not a file; nothing is fetched from elsewhere`, hint }
  }
  const path = realPath(resolve(dirname(importer), entry))
  if (path === undefined) return missing(entry, dirname(importer))
  if (roots.some((root) => isInside(path, root))) return { ok: true, path, roots }
  return {
    ok: false,
    message: `"${entry}" leads to ${path}, outside of the agent's directory`,
    hint: 'If you trust what is there, make its directory an import root (DELTA_IMPORT_ROOTS, or for this run alone).',
    root: dirname(path),
  }
}

function resolvePackage(entry: string, home: string, roots: Roots): ResolvedImport {
  const [, name, file] = PACKAGE.exec(entry) ?? []
  if (name === undefined || file === undefined) {
    const hint = 'As in npm:@acme/tools/files.yaml; the version is the one that is installed.'
    return { ok: false, message: `"${entry}" is not of the form npm:<package>/<file>`, hint }
  }
  const directory = findPackage(name, home)
  if (directory === undefined) {
    const hint = `Install it there: cd ${quoteForPerson([home])} && npm install ${name}`
    return { ok: false, message: `the package "${name}" is not installed`, hint }
  }
  const path = realPath(join(directory, file))
  if (path === undefined) {
    const hint = `What it has lies in ${directory}.`
    return { ok: false, message: `the package "${name}" has no file "${file}"`, hint }
  }
  if (!isInside(path, directory))
    return { ok: false, message: `"${entry}" leads out of the package, to ${path}` }
  return { ok: true, path, roots: [...roots, directory] }
}

function findPackage(name: string, home: string): string | undefined {
  for (let directory = home; ; directory = dirname(directory)) {
    const found = realPath(join(directory, 'node_modules', name))
    if (found !== undefined) return found
    if (directory === dirname(directory)) return undefined
  }
}

function missing(entry: string, directory: string): ResolvedImport {
  const read = readText(resolve(directory, entry))
  if (!read.ok && read.reason !== 'missing') return { ok: false, message: `"${entry}" ${read.message}` }
  const message = `"${entry}" does not exist in ${directory}`
  const atip = `A program writes it: delta tool import <program> -o ${resolve(directory, entry)}`
  const other = [`${entry}.yaml`, entry.replace(/\.yml$/, '.yaml'), entry.replace(/\.yaml$/, '.yml')].find(
    (candidate) => existsSync(resolve(directory, candidate)),
  )
  const named =
    other === undefined ? 'A path is relative to the file that imports it.' : `Did you mean "${other}"?`
  const hint = tildeHint(entry) ?? (entry.endsWith('.atip.json') ? atip : named)
  return { ok: false, message, hint }
}
