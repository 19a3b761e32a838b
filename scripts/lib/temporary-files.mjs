import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * For vitest: every test, and every process it starts, has its temporary files in one directory that goes away in the
 * end, so that a worker that was ended leaves none behind.
 */
export default function setup() {
  const directory = mkdtempSync(join(tmpdir(), 'delta-tests-'))
  process.env.TMPDIR = directory
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}
