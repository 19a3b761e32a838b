import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { isOfRun, runDirectory } from '@delta/journal/internal'
import { listRuns } from '@delta/journal/runs'
import type { RunsAt } from '@delta/trace'
import { isViewError, type Served, serve, USUAL_PORT } from '@delta/view'
import { type Place, placeToLook, type RunsFlags } from '@delta/workspace'
import { placeInWords } from '@delta/workspace/internal'
import { exportPage } from '../export-page.js'
import { directoryAt, resolveRunId } from '../find-shown-run.js'
import { EXIT, SIGNAL_EXIT, stopSignal, type Terminal } from '../terminal.js'
import { counted, print, say } from '../text.js'
import { UsageError } from '../usage.js'

interface ViewFlags extends RunsFlags {
  port?: string
  export?: string
  full?: boolean
  redact?: boolean
}

/** `delta view`: a page that shows runs, until a signal ends it, or in a file. Only reads the runs. */
export async function execute(flags: ViewFlags, terminal: Terminal, named: string[]): Promise<number> {
  if (flags.export !== undefined) return exportPage(named, { ...flags, file: flags.export }, terminal)
  if (flags.full || flags.redact) throw new UsageError('--full and --redact are for --export FILE.')
  const port = portIn(flags)
  const shown: Shown[] = []
  for (const each of named.length === 0 ? [undefined] : named)
    shown.push(await shownAt(each, flags, terminal))
  const [run, ...others] = shown.map((each) => each.run)
  const served = await servedAt({
    places: shown.flatMap((each) => each.places),
    run: others.length === 0 ? run : undefined,
    port,
  })
  if (served.runs === 0) {
    await served.close()
    const where = shown.map((each) => each.words).join(', ')
    throw new UsageError(`No runs in ${where} or below. Make one: delta run --agent <directory> -m <task>`)
  }
  if (port === undefined && served.port !== USUAL_PORT)
    say(terminal, `Port ${USUAL_PORT} is taken; using ${served.port}.`)
  print(terminal, `Viewing ${counted(served.runs, 'run')}: ${served.url}\n`)
  say(terminal, `Ctrl+C stops it. Over ssh: ssh -L ${served.port}:127.0.0.1:${served.port} HOST`)
  using stop = stopSignal(terminal)
  if (!stop.signal.aborted) await once(stop.signal, 'abort')
  await served.close()
  return SIGNAL_EXIT[String(stop.signal.reason)] ?? EXIT.completed
}

/** What a name stands for. */
interface Shown {
  places: RunsAt[]
  /** The directory of the run that it names. */
  run?: string
  /** The place as messages name it. */
  words: string
}

/** A directory with all below it; for an id, the runs of this workspace. Where a workspace keeps its runs elsewhere, those too. */
async function shownAt(typed: string | undefined, flags: ViewFlags, terminal: Terminal): Promise<Shown> {
  const directory = typed === undefined ? terminal.cwd : directoryAt(typed, terminal)
  if (directory !== undefined && typed !== undefined && isOfRun(directory))
    return { places: [directory], run: directory, words: directory }
  const place = placeToLook(
    { ...flags, ...(typed !== undefined && directory !== undefined && { workDir: directory }) },
    terminal,
  )
  const isElsewhere = place.runsDirectory !== undefined
  const kept = isElsewhere ? [{ ...place, ofAnyWorkspace: place.ofAnyWorkspace ?? false }] : []
  const below = flags.runsDir === undefined ? [directory ?? place.workDirectory] : []
  const shown = {
    places: [...below, ...kept],
    words: flags.runsDir === undefined ? (directory ?? placeInWords(place)) : placeInWords(place),
  }
  return directory === undefined ? { ...shown, run: await runCalled(typed ?? '', place) } : shown
}

const MOST_IDS = 10

/** @throws {UsageError} There is no such run, or several. */
async function runCalled(typed: string, place: Place): Promise<string> {
  const id = await resolveRunId(typed, place)
  const directory = runDirectory(place.workDirectory, id, place)
  if (existsSync(directory)) return directory
  const ids = (await listRuns(place.workDirectory, place)).map(({ runId }) => runId)
  const there = ids.length === 0 ? 'There are no runs.' : `Runs there: ${ids.slice(-MOST_IDS).join(', ')}.`
  throw new UsageError(`No run ${typed} in ${placeInWords(place)}. ${there}`)
}

function portIn({ port }: ViewFlags): number | undefined {
  if (port === undefined) return undefined
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number >= 1 && number <= 65_535) return number
  throw new UsageError('--port: must be a number from 1 to 65535.')
}

async function servedAt(options: Parameters<typeof serve>[0]): Promise<Served> {
  try {
    return await serve(options)
  } catch (error) {
    if (isViewError(error)) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
