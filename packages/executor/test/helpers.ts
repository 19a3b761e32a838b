import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of its own, gone when the test is. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'delta-executor-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export const env = { ...process.env }
