import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importMcpServer, readServerFile, type ServerFile } from '@delta/mcp'
import { fixtures, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'

export const SERVER = [process.execPath, fixtures.mcpServer]

let imported: Promise<string> | undefined

async function importDesk(): Promise<string> {
  const { path: cwd } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  return (await importMcpServer({ command: SERVER }, { cwd })).text
}

/** A directory in which a server works, and its file there. */
export interface Desk {
  directory: string
  /** Path of `desk.yaml`. */
  path: string
  /** The file as it is now. */
  file(): ServerFile
  /** What the servers that started here have written. */
  log(): string
  /** Makes the tools others, from the next start of a server on; null removes one. */
  change(tools: Record<string, object | null>): void
}

/** The server as `desk.yaml`; imported once. */
export async function openDesk(settings: { timeoutMs?: number; passEnv?: string[] } = {}): Promise<Desk> {
  imported ??= importDesk()
  const { timeoutMs = 60_000, passEnv = [] } = settings
  const text = (await imported)
    .replace('timeout_ms: 60000', `timeout_ms: ${timeoutMs}`)
    .replace('pass_env: []', `pass_env: ${JSON.stringify(passEnv)}`)
  const { path: directory } = await temporaryWorkspace(
    { 'desk.yaml': text, 'server.log': '' },
    { onCleanup: onTestFinished },
  )
  const path = join(directory, 'desk.yaml')
  return {
    directory,
    path,
    file: () => readServerFile(path),
    log: () => readFileSync(join(directory, 'server.log'), 'utf8'),
    change: (tools) => writeFileSync(join(directory, 'tools.json'), JSON.stringify(tools)),
  }
}
