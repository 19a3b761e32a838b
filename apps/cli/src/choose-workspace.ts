import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { syncName } from '@delta/durable'
import { makeDirectories, namesIn } from '@delta/durable/internal'
import { danglingLink, explainSystemError, namedDirectory } from '@delta/workspace/internal'
import { readLine } from './read-line.js'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage.js'

export interface Workspace {
  directory: string
  /** The directories just created for it: parents and itself, the outermost first. */
  created: string[]
  /** Set if the person did not name it. */
  unnamed?: { notice: string; lastUsedPath: string }
}

interface WorkspaceChoice {
  agentHome: string
  /** `-w`, as it was typed. */
  workDir: string | undefined
  yes: boolean
}

/**
 * The workspace of a new run. `-w` names it, and it is created if missing. Otherwise a new `W001`, `W002` … is created, or on
 * a terminal without `-y` the person may choose an existing one.
 *
 * @returns An existing directory, and the directories just `created` for it.
 */
export async function chooseWorkspace(
  { agentHome, workDir, yes }: WorkspaceChoice,
  terminal: Terminal,
): Promise<Workspace> {
  if (workDir !== undefined) return makeNamed(workDir, terminal)
  const home = workspacesHome(agentHome, terminal.cwd)
  try {
    return await chooseUnnamed(home, yes, terminal)
  } catch (cause) {
    const why = explainSystemError(cause, 'Name a workspace that can be written: -w <directory>')
    if (why === undefined) throw cause
    throw new UsageError(`${(cause as NodeJS.ErrnoException).path ?? home}: ${why}`, { cause })
  }
}

async function chooseUnnamed(home: string, yes: boolean, terminal: Terminal): Promise<Workspace> {
  const existing = workspacesIn(home)
  const asks = !yes && existing.length > 0 && terminal.stdin.isTTY && terminal.stderr.isTTY
  const chosen = asks ? await askForWorkspace(existing, lastUsedIn(home), terminal) : undefined
  const { directory, created } =
    chosen === undefined ? makeNext(home) : { directory: join(home, chosen), created: [] }
  const notice = `${chosen === undefined ? 'New workspace' : 'Workspace'} ${directory}: the agent works there. With -w . it works here.`
  return { directory, created, unnamed: { notice, lastUsedPath: join(home, 'LAST_USED') } }
}

/** To be called once a run has begun: makes it the last one used and, with `sync`, safe against a power cut. */
export function keepWorkspace({ directory, created, unnamed }: Workspace, { sync }: { sync: boolean }): void {
  if (sync) for (const each of created) syncName(each)
  if (unnamed === undefined) return
  try {
    writeFileSync(unnamed.lastUsedPath, `${basename(directory)}\n`)
  } catch {
    // only a convenience: the next question names no last one
  }
}

/** Removes the directories created for a run that did not begin, unless something is in them. */
export function removeCreatedDirectories({ created }: Workspace): void {
  try {
    for (const directory of created.toReversed()) rmdirSync(directory)
  } catch {
    // not empty, or already gone; the error that stopped the run matters more
  }
}

function makeNamed(workDir: string, terminal: Terminal): Workspace {
  const directory = namedDirectory(workDir, terminal)
  const dangling = danglingLink(directory, `-w ${workDir}`)
  if (dangling !== undefined) throw new UsageError(dangling)
  try {
    return { directory, created: makeDirectories(directory) }
  } catch (cause) {
    const why = explainSystemError(cause) ?? (cause as Error).message
    throw new UsageError(`-w ${workDir}: ${why}`, { cause })
  }
}

/** Beside the agent's files if those can be written and are not an installed package; otherwise under the current directory. */
function workspacesHome(agentHome: string, cwd: string): string {
  const installed = agentHome.split(sep).includes('node_modules')
  if (!installed && isWritable(agentHome)) return join(agentHome, 'workspaces')
  return join(cwd, 'workspaces', basename(agentHome))
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false // EACCES or EROFS
  }
}

/** `mkdir` without `recursive` fails if the name is taken, so two runs that start at once each get their own. */
function makeNext(home: string): { directory: string; created: string[] } {
  const created = makeDirectories(home)
  for (let number = numberOf(workspacesIn(home).at(-1) ?? 'W000') + 1; ; number++) {
    const directory = join(home, `W${String(number).padStart(3, '0')}`)
    try {
      mkdirSync(directory)
      return { directory, created: [...created, directory] }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/**
 * The name of an existing workspace, of which `W002` may be typed as `2`, or undefined for a new one. Ctrl+D chooses none: it
 * must not start a run that costs money.
 */
async function askForWorkspace(
  existing: string[],
  lastUsed: string | undefined,
  terminal: Terminal,
): Promise<string | undefined> {
  const last = existing.length > 1 && existing.includes(lastUsed ?? '') ? `; last used ${lastUsed}` : ''
  const names = existing.length > 2 ? `${existing[0]} to ${existing.at(-1)}` : existing.join(', ')
  for (;;) {
    const answer = (await readLine(`Workspace (${names}${last}; Enter for a new one): `, terminal))?.trim()
    if (answer === undefined) terminal.stderr.write('\n') // ends the line of the question
    if (answer === undefined)
      throw new UsageError(
        'No workspace was chosen, so no run was started. Name one with -w, or take a new one with -y.',
      )
    if (answer === '') return undefined
    const chosen = existing.find((name) => /^w?\d+$/i.test(answer) && numberOf(answer) === numberOf(name))
    if (chosen !== undefined) return chosen
    terminal.stderr.write(`There is no workspace ${JSON.stringify(answer)}.\n`)
  }
}

/** Of `W002`, or as it may be typed. */
function numberOf(name: string): number {
  return Number(name.replace(/^w/i, ''))
}

/** The workspaces that were created without `-w`, oldest first. */
function workspacesIn(home: string): string[] {
  return namesIn(home)
    .filter((name) => /^W\d{3,}$/.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b))
}

/** The one that was used last, if that is known; it may be gone. */
function lastUsedIn(home: string): string | undefined {
  try {
    return readFileSync(join(home, 'LAST_USED'), 'utf8').trim()
  } catch {
    return undefined // only a convenience, whatever the error
  }
}
