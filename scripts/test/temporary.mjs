import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * Writes files into a new directory that goes away with the test.
 *
 * @param {Record<string, string | object | undefined>} files by path; objects become JSON, undefined is left out
 * @returns {string} the directory
 */
export function temporaryTree(files) {
  const directory = mkdtempSync(join(tmpdir(), 'delta-scripts-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) continue
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return directory
}
