import { readLine } from '../terminal/read-line.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'

/** The name of an existing workspace, or undefined for a new one. Ctrl+D chooses none: it must not start a run that costs money. */
export async function askForWorkspace(
  existing: string[],
  lastUsed: string | undefined,
  terminal: Terminal,
): Promise<string | undefined> {
  for (;;) {
    terminal.stderr.write(`Workspace (${choices(existing, lastUsed)}; Enter for a new one): `)
    const answer = (await readLine(terminal))?.trim()
    if (answer === undefined) throw noneChosen(terminal)
    if (answer === '') return undefined
    const chosen = existing.find((name) => means(answer, name))
    if (chosen !== undefined) return chosen
    terminal.stderr.write(`There is no workspace ${JSON.stringify(answer)}.\n`)
  }
}

const MOST_NAMED = 8

function choices(existing: string[], lastUsed: string | undefined): string {
  const names = existing.length > MOST_NAMED ? `${existing[0]} to ${existing.at(-1)}` : existing.join(', ')
  const last = existing.length > 1 ? existing.find((name) => name === lastUsed) : undefined
  return last === undefined ? names : `${names}; last used ${last}`
}

/** `W002` may be typed as `w2` or `2`. */
function means(answer: string, name: string): boolean {
  const number = /^w?(\d+)$/i.exec(answer)?.[1]
  return number !== undefined && Number(number) === Number(name.slice(1))
}

function noneChosen({ stderr }: Terminal): UsageError {
  stderr.write('\n') // ends the line of the question
  return new UsageError(
    'No workspace was chosen, so no run was started. Name one with -w, or take a new one with -y.',
  )
}
