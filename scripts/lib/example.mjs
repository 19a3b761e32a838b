import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import ts from 'typescript'
import { testEnvironment } from './environment.mjs'
import { capture } from './step.mjs'

const EXECUTED = ['.ts', '.mjs', '.js']

/**
 * An example file as a README shows it: its text, and what it prints when it is a program.
 *
 * The program runs as a module of the directory it lies in, so that it imports its own package by name. What it leaves in
 * the directory for temporary files is removed: an example shows its subject, and not how to tidy up.
 *
 * @param {string} path
 * @returns {Promise<string>} fenced blocks, ending in a newline
 * @throws {Error} when the program fails; the message holds what it printed
 */
export async function renderExample(path) {
  const text = readFileSync(path, 'utf8')
  const shown = fence(extname(path).slice(1), text)
  if (!EXECUTED.includes(extname(path))) return shown
  const printed = await run(text, path)
  return printed.trim() === '' ? shown : shown + fence('text', printed)
}

/**
 * @param {string} text
 * @param {string} path
 */
async function run(text, path) {
  const { outputText } = ts.transpileModule(text, {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  })
  const temporary = mkdtempSync(join(tmpdir(), 'delta-example-'))
  const { code, stdout, output } = await capture([process.execPath, '--input-type=module', '-'], {
    cwd: dirname(path),
    env: { ...testEnvironment(), TMPDIR: temporary, NO_COLOR: '1', FORCE_COLOR: undefined },
    input: outputText,
    timeoutMs: 60_000,
  }).finally(() => rmSync(temporary, { recursive: true, force: true }))
  if (code !== 0) throw new Error(`it ends with exit code ${code} and prints:\n${output.trimEnd()}`)
  return stdout
}

/**
 * @param {string} language
 * @param {string} text
 */
function fence(language, text) {
  const inside = text.match(/^`{3,}/gm) ?? []
  const marks = '`'.repeat(Math.max(3, ...inside.map((found) => found.length + 1)))
  return `${marks}${language}\n${text.trimEnd()}\n${marks}\n`
}
