import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { nearestNames } from '@delta/executor'
import type { ConfigProblem } from '../errors.js'
import { readText } from '../files/read-text.js'
import type { Findings } from '../findings.js'

/** Names under which each setting may be given; within one file the first one counts. */
export const KEY_NAMES = ['DELTA_API_KEY', 'OPENAI_API_KEY'] as const
export const URL_NAMES = ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL'] as const

export type Variables = Record<string, string | undefined>

export interface EnvFile {
  values: Variables
  /** Where each name is set; of several places the last, which is the one that counts. */
  places: Record<string, EnvPlace>
  /** Of the whole content. */
  digest: string
}

/** Without the line's text, which may hold a key. */
export type EnvPlace = Required<Pick<ConfigProblem, 'file' | 'line' | 'column'>>

const OUR_NAMES: readonly string[] = [...KEY_NAMES, ...URL_NAMES]

/** What other tools, and older versions of them, call these settings. */
const OTHER_NAMES: Record<string, string> = {
  OPENAI_API_BASE: 'OPENAI_BASE_URL',
  DELTA_API_BASE: 'DELTA_BASE_URL',
  DELTA_API_URL: 'DELTA_BASE_URL',
}

/** Reads an `.env` file. Undefined if there is none. */
export function readEnvFile(path: string, findings: Findings): EnvFile | undefined {
  const read = readText(path)
  if (read.ok) {
    const digest = createHash('sha256').update(read.text).digest('hex')
    return { values: parseEnv(read.text), places: findNames(read.text, path, findings), digest }
  }
  if (read.reason === 'missing') return undefined
  if (read.reason !== 'directory') findings.error({ file: path }, `${read.message}.`)
  // Virtual environments of Python are sometimes called so; that is no mistake to stop for.
  else findings.warn({ file: path }, 'is a directory, not a file; no settings are read from it.')
  return undefined
}

/** Where the names stand; says what would go unnoticed, for whatever such files hold else has no effect. */
function findNames(text: string, file: string, findings: Findings): Record<string, EnvPlace> {
  const places: Record<string, EnvPlace> = {}
  for (const [index, line] of text.split('\n').entries()) {
    const [, before = '', name = ''] = /^(\s*(?:export\s+)?)([A-Za-z_]+)/.exec(line) ?? []
    const place = { file, line: index + 1, column: before.length + 1 }
    if (line.includes('=')) places[name] = place
    if (OUR_NAMES.includes(name)) {
      if (!line.includes('=')) findings.warn(place, `${name} has no value here.`, `Write: ${name}=…`)
      continue
    }
    const meant = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : nearestNames(name, OUR_NAMES, 2)[0]
    if (meant !== undefined && line.includes('='))
      findings.warn(place, `${name} has no effect.`, `Did you mean ${meant}?`)
  }
  return places
}

/** The directory with `.git` at or above another one. */
export function findProjectRoot(start: string): string | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}
