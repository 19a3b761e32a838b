import { statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { replaceFile } from '@delta/durable'
import { type ExportedHtml, exportHtml, isViewError } from '@delta/view'
import type { RunsFlags } from '@delta/workspace'
import { explainSystemError } from '@delta/workspace/internal'
import { describeError } from './errors.js'
import { promiseOf } from './export-promise.js'
import { namedRuns } from './named-runs.js'
import { EXIT, type Terminal } from './terminal.js'
import { counted, print, say } from './text.js'
import { UsageError } from './usage.js'

interface PageFlags extends RunsFlags {
  file: string
  full?: boolean
  redact?: boolean
}

/** `delta view --export`: the page of some runs and their sub-agents as one file. Without names, of the latest run. */
export async function exportPage(named: string[], flags: PageFlags, terminal: Terminal): Promise<number> {
  const path = targetOf(flags, terminal)
  const traces = await namedRuns(named, flags, terminal)
  const { full, redact } = flags
  const page = exportHtml(traces, { full, redact, home: terminal.env.HOME })
  const { text, held } = await readAll(page)
  try {
    replaceFile(path, text)
  } catch (cause) {
    const reason = explainSystemError(cause)
    throw reason === undefined ? cause : new UsageError(`--export ${flags.file}: ${reason}`, { cause })
  }
  print(terminal, `${basename(path)}: ${heldInWords(held, text.length)}\n`)
  for (const id of held.running)
    say(terminal, `${id} was still going on: what came later is not in the file.`)
  const problems = traces.flatMap(({ run }) => run.problem ?? [])
  for (const problem of problems) say(terminal, describeError(problem))
  say(terminal, promiseOf({ redact }))
  return problems.length > 0 ? EXIT.failed : EXIT.completed
}

/** @throws {UsageError} No file can be written there. */
function targetOf({ file }: PageFlags, { cwd }: Terminal): string {
  const path = resolve(cwd, file)
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`--export: there is no directory ${dirname(path)}.`)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UsageError(`--export ${file}: it is not a regular file.`)
  return path
}

async function readAll(
  page: AsyncGenerator<string, ExportedHtml>,
): Promise<{ text: Buffer; held: ExportedHtml }> {
  const pieces: Buffer[] = []
  try {
    for (;;) {
      const { done, value } = await page.next()
      if (done) return { text: Buffer.concat(pieces), held: value }
      pieces.push(Buffer.from(value))
    }
  } catch (error) {
    throw isViewError(error) ? new UsageError(error.message, { cause: error }) : error
  }
}

function heldInWords({ runs, steps, subAgents, shortened }: ExportedHtml, bytes: number): string {
  const held = [
    ...(runs === 1 ? [] : [counted(runs, 'run')]),
    counted(steps, 'step'),
    ...(subAgents === 0 ? [] : [counted(subAgents, 'sub-agent')]),
    `${(Math.max(bytes, 100_000) / 1e6).toFixed(1)} MB`,
  ].join(', ')
  if (shortened === 0) return `${held}.`
  const [are, them] = shortened === 1 ? ['is', 'it'] : ['are', 'them']
  return `${held}. ${counted(shortened, 'text')} ${are} shortened; --full keeps ${them} whole.`
}
