import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Findings } from './findings.js'
import { readText } from './read-text.js'

/** Names under which each setting may be given; within one file the first one counts. */
export const KEY_NAMES = ['DELTA_API_KEY', 'OPENAI_API_KEY'] as const
export const URL_NAMES = ['DELTA_BASE_URL', 'OPENAI_BASE_URL', 'OPENAI_API_URL'] as const

export type Variables = Record<string, string | undefined>

/** Reads an `.env` file. Undefined if there is none. */
export function readEnvFile(path: string, findings: Findings): Variables | undefined {
  const read = readText(path)
  if (read.ok) {
    warnAboutLines(read.text, path, findings)
    return parseEnv(read.text)
  }
  if (read.reason !== 'missing' && read.reason !== 'directory')
    findings.error({ file: path }, `${read.message}.`)
  return undefined
}

/** `DELTA_API_KEY: sk-…` is a value to no reader of such files, and nobody would notice. */
function warnAboutLines(text: string, file: string, findings: Findings): void {
  for (const [index, line] of text.split('\n').entries()) {
    const [, name] = /^\s*(?:export\s+)?([A-Za-z_]+)/.exec(line) ?? []
    if (line.includes('=') || ![...KEY_NAMES, ...URL_NAMES].some((known) => known === name)) continue
    findings.warn({ file, line: index + 1 }, `${name} has no value here.`, `Write: ${name}=…`)
  }
}

/** The directory with `.git` at or above another one. */
export function findProjectRoot(start: string): string | undefined {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return undefined
  }
}
