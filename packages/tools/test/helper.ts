import { fileURLToPath } from 'node:url'
import { type ProcessResult, runProcess, type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'

/** Runs the script of a tool as anybody can: with JSON on stdin, in a workspace. */
export function callTool(
  name: string,
  args: unknown,
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<ProcessResult> {
  const script = fileURLToPath(new URL(`../${name}.mjs`, import.meta.url))
  return runProcess([process.execPath, script], {
    cwd,
    env: { ...process.env, ...env },
    input: typeof args === 'string' ? args : JSON.stringify(args),
  })
}

export function workspaceOf(
  files: Record<string, string | Uint8Array> = {},
  onCleanup: (cleanUp: () => Promise<void>) => void = onTestFinished,
): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(files, { onCleanup })
}
