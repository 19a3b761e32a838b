import { reasonCodeOf } from '@delta/engine'
import type { RunSummary } from '@delta/journal'
import { commandAt, commandToContinue, placeOfRun } from '../place.js'
import { wayToRetry } from './way-to-retry.js'
import { waysToDecide } from './ways-to-decide.js'

/** What a person may want to type next after looking at a run: lines, none if it is completed or cannot go on. */
export function adviceOnRun(run: RunSummary): string[] {
  if (run.problem !== undefined) return []
  const place = placeOfRun(run.directory)
  const goOn = commandToContinue(place, run.runId)
  switch (run.status) {
    case 'RUNNING': {
      const watch = `Watch it with: ${commandAt(place, 'show', run.runId, '--follow')}`
      if (run.humanRequest === undefined) return [`It is running. ${watch}`]
      // the process may have been started with the answer, and not have recorded it yet
      return [
        `Its last question has no answer yet. ${whoAsks(run)} is asking a person, or is about to go on with the answer. ${watch}`,
      ]
    }
    case 'WAITING_FOR_INPUT':
      return answering(run, goOn)
    case 'INTERRUPTED':
      return [`${endIsTold(run) ? '' : 'It was interrupted: no process is writing it. '}Go on with: ${goOn}`]
    case 'FAILED':
      return [
        wayToRetry(goOn, {
          reasonCode: reasonCodeOf(run),
          maxIterations: run.metadata.max_iterations ?? run.iterationsSinceMessage,
        }),
      ]
    default:
      return []
  }
}

/** An engine that was killed wrote no `ENGINE_END`. */
function endIsTold({ metadata }: RunSummary): boolean {
  return metadata.end_time !== null
}

function whoAsks({ owner }: RunSummary): string {
  return owner === undefined ? 'Another process' : `Process ${owner.pid} on ${owner.host}`
}

function answering({ humanRequest: request }: RunSummary, goOn: string): string[] {
  if (request === undefined) return []
  const { argv, request_id: id } = request
  if (argv !== undefined && id !== undefined) return waysToDecide(goOn, id)
  if (request.sensitive) return [`Answer unseen with: ${goOn} -i`]
  if (request.input_type === 'confirmation') return [`Answer with: ${goOn} -m yes   (or: -m no)`]
  return [`Answer with: ${goOn} -m "my answer"`]
}
