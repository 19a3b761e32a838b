import { temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import {
  ConfigError,
  type ConfigWarning,
  type LoadedAgent,
  type LoadOptions,
  loadAgent,
} from '../src/index.js'

/** Files by path; a value that is undefined is a file that is not there. */
export type Files = Record<string, string | undefined>

export const MINIMAL: Files = {
  'agent.yaml': 'name: tester\nllm: { model: gpt-4o }\n',
  'system_prompt.md': 'You test.\n',
  'context.yaml': `sources:
  - { type: file, path: '\${AGENT_HOME}/system_prompt.md' }
  - { type: journal }
`,
}

/** Writes files into a new directory that is removed after the test. */
export async function directoryOf(files: Files): Promise<string> {
  const present = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return (await temporaryWorkspace(Object.fromEntries(present), { onCleanup: onTestFinished })).path
}

/** The minimal agent with these files laid over it. */
export function agentOf(files: Files = {}): Promise<string> {
  return directoryOf({ ...MINIMAL, ...files })
}

/** Loads the minimal agent with these files laid over it. */
export async function load(
  files: Files = {},
  options: Partial<LoadOptions> = {},
): Promise<{ agent: LoadedAgent; warnings: ConfigWarning[]; home: string }> {
  const home = await agentOf(files)
  return { ...(await loadAgent(home, { env: {}, ...options })), home }
}

/** What a person reads when the minimal agent with these files cannot be loaded; its directory is shown as `agent`. */
export async function complaint(files: Files, options: Partial<LoadOptions> = {}): Promise<string> {
  const home = await agentOf(files)
  return complaintAbout(home, options)
}

export async function complaintAbout(home: string, options: Partial<LoadOptions> = {}): Promise<string> {
  try {
    await loadAgent(home, { env: {}, ...options })
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(home, 'agent')
    throw error
  }
  throw new Error('the agent was loaded')
}

/** Warnings as a person reads them, without the excerpts. */
export function texts(warnings: readonly ConfigWarning[], home: string): string[] {
  return warnings.map(({ file, line, message, hint }) => {
    const place = [file.replace(home, 'agent'), ...(line === undefined ? [] : [line])].join(':')
    return `${place}: ${message}${hint ? ` ${hint}` : ''}`
  })
}
