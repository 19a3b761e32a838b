import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Findings } from './findings.js'
import { nearestName } from './nearest.js'
import { readText } from './read-text.js'

/** Names under which each setting may be given; within one file the first one counts. */
export const KEY_NAMES = ['DELTA_API_KEY', 'OPENAI_API_KEY'] as const
export const URL_NAMES = ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL'] as const

export type Variables = Record<string, string | undefined>

export interface EnvFile {
  values: Variables
  /** The line each name is set on; of several the last, which is the one that counts. */
  lines: Record<string, number>
}

const OUR_NAMES: readonly string[] = [...KEY_NAMES, ...URL_NAMES]

/** Reads an `.env` file. Undefined if there is none. */
export function readEnvFile(path: string, findings: Findings): EnvFile | undefined {
  const read = readText(path)
  if (read.ok) return { values: parseEnv(read.text), lines: findNames(read.text, path, findings) }
  if (read.reason === 'missing') return undefined
  if (read.reason !== 'directory') findings.error({ file: path }, `${read.message}.`)
  // Virtual environments of Python are sometimes called so; that is no mistake to stop for.
  else findings.warn({ file: path }, 'is a directory, not a file; no settings are read from it.')
  return undefined
}

/** Where the names stand; says what would go unnoticed, for whatever such files hold else has no effect. */
function findNames(text: string, file: string, findings: Findings): Record<string, number> {
  const lines: Record<string, number> = {}
  for (const [index, line] of text.split('\n').entries()) {
    const [, name = ''] = /^\s*(?:export\s+)?([A-Za-z_]+)/.exec(line) ?? []
    const place = { file, line: index + 1 }
    if (line.includes('=')) lines[name] = index + 1
    if (OUR_NAMES.includes(name)) {
      if (!line.includes('=')) findings.warn(place, `${name} has no value here.`, `Write: ${name}=…`)
      continue
    }
    const meant = nearestName(name, OUR_NAMES, 2)
    if (meant !== undefined && line.includes('='))
      findings.warn(place, `${name} has no effect.`, `Did you mean ${meant}?`)
  }
  return lines
}

/** The directory with `.git` at or above another one. */
export function findProjectRoot(start: string): string | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}
