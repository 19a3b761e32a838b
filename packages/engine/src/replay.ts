import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { HookName } from '@delta/config-loader'
import type { RecordedSources } from '@delta/context'
import { answerWithNewPaths, replacing } from '@delta/context/internal'
import { readIfThere } from '@delta/durable'
import { isInside } from '@delta/durable/internal'
import { openRecordedRequests, type RecordedRequests } from '@delta/journal/internal'
import type { HookExecutionAudit } from '@delta/journal/runs'
import { type Api, type ChatModel, replayModel } from '@delta/model'
import { toWire } from '@delta/model/internal'
import { stdinSha256 } from './approve.js'
import { ASK_HUMAN } from './ask-human.js'
import { failureOfEnd, type Outcome } from './outcome.js'
import { isSame, type Leg, type RecordedCall, type RecordedRun } from './recorded-run.js'
import { sourcesOf } from './recorded-sources.js'
import {
  type CallPlace,
  EndOfRecord,
  type HookPlace,
  NotRecorded,
  type RecordedHook,
  type Replay,
  type Sides,
  type Variables,
} from './replay-port.js'
import type { Call, ReadyCall } from './run-state.js'

/** Opens the record of a run. */
export function openReplay(
  record: RecordedRun,
  options: {
    /** The recorded run's name, for people. */
    name: string
    sides: Sides
    variables: Variables
    /** Where the agent's own files are now. */
    agentHome: string | undefined
    /** Directories of the record, each with the one in its place, where tools are live. */
    paths: readonly (readonly [string, string])[]
    masks: readonly RegExp[]
    /** The API that the agent would speak now; undefined if no server is asked. */
    api: Api | undefined
    /** The limit that is typed for the replay. */
    maxIterations: number | undefined
  },
): Replay {
  const { sides, variables, agentHome, paths, name } = options
  const inNewPaths = replacing(paths)
  const inOldPaths = replacing(paths.map(([from, to]) => [to, from]))
  const comparable = (text: string) =>
    options.masks.reduce((masked, mask) => masked.replace(mask, '[masked]'), inOldPaths(text))
  const { requests, indexOf } = openRequests(record)
  const used = new Set<RecordedCall>()
  const legs = [...record.legs]
  let leg = legs.shift() as Leg

  const notRecorded = (what: string) => new NotRecorded(`replay of ${name}: ${what} Nothing was run.`)
  const isRecorded = sides.model === 'recorded'

  function has(iteration: number): boolean {
    const isHookIn = leg.hooks.some((hook) => hook.iteration === iteration && hook.hook_name !== 'on_run_end')
    return leg.thoughts.has(iteration) || leg.openRequest?.iteration === iteration || isHookIn
  }

  function ending(iteration: number): Outcome {
    const { end } = leg
    if (end?.status === 'FAILED') return failureOfEnd(end, iteration)
    const reasonCode = end?.status === 'INTERRUPTED' ? 'signal' : 'killed'
    return { status: 'INTERRUPTED', reasonCode, reason: end?.reason ?? 'The record ends here.' }
  }

  function reach(what: 'request' | 'thought', iteration: number): void {
    const isThere =
      leg.thoughts.has(iteration) || (what === 'request' && leg.openRequest?.iteration === iteration)
    if (isRecorded && !isThere) throw new EndOfRecord(ending(iteration))
  }

  function asEnded(outcome: Outcome): Outcome {
    const isByItself = leg.end !== undefined && leg.end.status !== 'INTERRUPTED'
    return isByItself || !isRecorded || outcome.reasonCode === 'replay_mismatch' ? outcome : ending(1)
  }

  function chatModel(): ChatModel {
    const recording = {
      ...requests,
      response: (index: number) => {
        const answer = requests.response(index)
        if (answer === undefined) throw new EndOfRecord(ending(leg.openRequest?.iteration ?? 1))
        return answer
      },
    }
    const { api } = options
    const spoken = Array.from({ length: requests.length }, (_, index) => requests.api(index))
    if (api !== undefined && spoken.length > 0 && !spoken.includes(api)) return otherApi(api, spoken)
    const recorded = replayModel(recording, { comparable })
    return {
      ...recorded,
      complete: async (request, about) => {
        const answer = await recorded.complete(request, about)
        return { ...answer, message: answerWithNewPaths(answer.message, paths) }
      },
    }
  }

  /** No request in another API is the same. */
  function otherApi(api: Api, [recorded]: readonly Api[]): ChatModel {
    return {
      toWire: (request, blobs) => toWire(api, request, blobs),
      complete: async () => {
        throw notRecorded(`the agent speaks the API "${api}" now, and the run spoke "${recorded}".`)
      },
    }
  }

  function nextLeg(): boolean {
    const next = legs.shift()
    leg = next ?? leg
    return next !== undefined
  }

  function sources(iteration: number): RecordedSources | undefined {
    if (sides.tools === 'live') return undefined
    const index = indexOf(leg, iteration)
    const missing = (id: string) =>
      isRecorded && index === undefined
        ? new EndOfRecord(ending(iteration))
        : notRecorded(`the source "${id}" of iteration ${iteration} was not recorded.`)
    return sourcesOf(requests, { index, agentHome, notRecorded: missing })
  }

  function at({ iteration, index }: CallPlace): RecordedCall | undefined {
    return record.calls.find((each) => each.iteration === iteration && each.index === index)
  }

  function hook(name: HookName, { iteration, index, payload }: HookPlace): RecordedHook | 'live' | 'not run' {
    if (sides.tools === 'live') return 'live'
    const actionId = index === undefined ? undefined : at({ iteration, index })?.actionId
    const inPlace = leg.hooks.filter((each) => each.hook_name === name && each.iteration === iteration)
    const found = inPlace.findLast((each) => each.action_id === actionId)
    if (found?.status === 'SKIPPED') return 'not run'
    if (found === undefined && (name === 'on_error' || name === 'on_run_end')) return 'not run'
    if (found === undefined && isRecorded && !has(iteration + 1)) throw new EndOfRecord(ending(iteration))
    const what = `what the ${name} hook did in iteration ${iteration} was not recorded.`
    const directory = join(record.directory, found?.io_path_ref ?? '')
    const isOfRun = isInside(directory, join(record.directory, 'io/hooks')) // another program may have written the journal
    if (!found?.io_path_ref || !isOfRun) throw notRecorded(what)
    if (payload && !isSameInput(directory, payload)) {
      if (isRecorded && name === 'pre_llm_request') return 'not run' // and the request differs, which says more
      throw notRecorded(`the ${name} hook of iteration ${iteration} was recorded with another input.`)
    }
    return { directory, failure: failureIn(found) }
  }

  function wasReported({ iteration, index }: CallPlace): boolean {
    const id = at({ iteration, index })?.actionId
    const isOf = ({ hook_name: name, action_id, status }: HookExecutionAudit) =>
      name === 'post_tool_execution' && action_id === id && status !== 'SKIPPED'
    return id !== undefined && leg.hooks.some(isOf)
  }

  /** In its own place, if it is the same there; else the first that is the same and that no other call has had. */
  function find({ iteration, index }: CallPlace, isSought: (each: RecordedCall) => boolean) {
    const open = record.calls.filter((each) => !used.has(each) && isSought(each))
    return open.find((each) => each.iteration === iteration && each.index === index) ?? open[0]
  }

  function startedAs(
    { name }: Call,
    { argv, sandbox, stdin, variables: { TOOL_HOME: toolHome } }: ReadyCall,
  ) {
    const inner = argv.slice(sandbox?.prefix.length ?? 0)
    const started = { name, argv: inner, stdinSha256: stdinSha256(stdin), toolHome }
    return (each: RecordedCall) => isSame(each, started, inNewPaths)
  }

  function asked({ name, arguments: raw }: Call) {
    return (each: RecordedCall) => each.name === name && inNewPaths(each.arguments) === raw
  }

  function call(called: Call, prepared: ReadyCall, place: CallPlace): RecordedCall | undefined {
    const isStarted = startedAs(called, prepared)
    const there = isRecorded ? at(place) : undefined
    if (there && !hasResult(there)) {
      const { result: _, ...begun } = there
      if (begun.request?.argv && isStarted(there)) return begun
      throw new EndOfRecord(ending(place.iteration))
    }
    if (sides.tools === 'live')
      return there?.result?.status === 'INTERRUPTED' && isStarted(there) ? there : undefined
    const found = find(place, isStarted)
    if (found?.result === undefined) throw notRecorded(sayCall(called, place, prepared.resolvedCommand))
    used.add(found)
    return found
  }

  function hasResult({ result }: RecordedCall): boolean {
    return result !== undefined && leg.results.has(result)
  }

  function sayCall(
    { name, arguments: raw }: Call,
    { iteration, index }: CallPlace,
    command?: string,
  ): string {
    const which = `call ${index + 1} of iteration ${iteration} was not recorded: ${name} ${shortened(raw)}`
    const ofTool = record.calls.filter((each) => each.name === name && !used.has(each))
    const nearest = ofTool.findLast((each) => each.iteration <= iteration) ?? ofTool[0]
    if (nearest === undefined) return `${which}.`
    const recorded = nearest.request?.resolved_command
    if (command && recorded && nearest.arguments === raw)
      return `${which}, which is now ${shortened(command)}; in iteration ${nearest.iteration} it was ${shortened(recorded)}.`
    return `${which}; the nearest is iteration ${nearest.iteration}: ${name} ${shortened(nearest.arguments)}.`
  }

  function settled(called: Call, place: CallPlace): RecordedCall | 'acted on' | undefined {
    const found = find(place, asked(called))
    if (found?.result === undefined || !hasResult(found)) return undefined
    const isStarted = found.request?.argv && found.result.status !== 'INTERRUPTED'
    if (isStarted) return 'acted on'
    used.add(found)
    return found
  }

  function approval(called: Call, prepared: ReadyCall, place: CallPlace): RecordedCall['asked'] | 'allowed' {
    const isStarted = startedAs(called, prepared)
    const isAsked = asked(called)
    const found = find(place, (each) => isStarted(each) || (each.asked !== undefined && isAsked(each)))
    if (found?.asked) {
      if (found.asked.answer?.response === 'no') used.add(found)
      return found.asked
    }
    const isAlways = record.always.some(
      ({ name, iteration }) => name === called.name && iteration <= place.iteration,
    )
    if (prepared.decision !== 'ask' || sides.tools === 'recorded' || isAlways) return 'allowed'
    const which = `call ${place.index + 1} of iteration ${place.iteration} (${called.name})`
    throw notRecorded(`${which} needs approval now, and nobody was asked.`)
  }

  function question(called: Call, place: CallPlace): RecordedCall {
    const isAsked = asked(called)
    const found = find(place, (each) => each.name === ASK_HUMAN && isAsked(each))
    if (found === undefined) throw notRecorded(sayCall(called, place))
    used.add(found)
    return found
  }

  return {
    sides,
    directory: record.directory,
    variables: sides.tools === 'recorded' ? variables : undefined,
    chatModel: isRecorded ? chatModel() : undefined,
    maxIterations: () => options.maxIterations ?? (isRecorded ? leg.maxIterations : undefined),
    has,
    ending,
    endingBefore: (iteration) => (isRecorded && !has(iteration) ? ending(iteration) : undefined),
    said: () => leg.said,
    saidBefore: (iteration) => {
      const said = leg.heard.get(iteration) ?? []
      leg.heard.delete(iteration)
      return said
    },
    nextLeg,
    sources,
    reach,
    asEnded,
    hook,
    wasReported,
    call,
    settled,
    approval,
    question,
  }
}

/** The requests whose answers count, and the last ones that were not answered. */
function openRequests({ directory, legs }: RecordedRun) {
  const refs: string[] = []
  const indexes = new Map<Leg, Map<number, number>>()
  for (const leg of legs) {
    const ofLeg = new Map<number, number>()
    const add = (iteration: number, ref: string) => ofLeg.set(iteration, refs.push(ref) - 1)
    for (const { iteration, llm_invocation_ref: ref } of leg.thoughts.values()) if (ref) add(iteration, ref)
    if (leg.openRequest) add(leg.openRequest.iteration, leg.openRequest.ref)
    indexes.set(leg, ofLeg)
  }
  const requests: RecordedRequests = openRecordedRequests(directory, refs)
  return { requests, indexOf: (leg: Leg, iteration: number) => indexes.get(leg)?.get(iteration) }
}

function isSameInput(directory: string, { file, data }: { file: string; data: () => string }): boolean {
  const recorded = readIfThere(join(directory, 'input', file))?.toString()
  if (recorded === undefined) return false
  const now = data()
  return recorded === now || isDeepStrictEqual(inputIn(recorded), inputIn(now))
}

/** A guard also reads the command line, whose sandbox is another on each machine. */
function inputIn(text: string): unknown {
  try {
    const { argv: _, ...rest } = Object(JSON.parse(text)) as Record<string, unknown>
    return rest
  } catch {
    return text
  }
}

/** Characters of a call's arguments that an error shows. */
const LONGEST_SHOWN = 200

function shortened(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`
}

function failureIn({ status, error_message: message = 'failed' }: HookExecutionAudit) {
  return status === 'SUCCESS' ? undefined : message
}
