import type {
  FileHead,
  FileRun,
  FileStep,
  FileSteps,
  FileText,
  SearchMatch,
  StepCard,
  StepList,
  Text,
} from '../src/api.js'
import { RouteError } from './errors.js'

/** An exported file: it answers what the server would, from the islands of JSON in it. */
export interface HeldFile {
  head: FileHead
  /** @throws {RouteError} It is not in the file. */
  answer(path: string): unknown
  /** All that the file has of a text. */
  text(path: string, from: number): { text: string; size: number; end: number }
  image(path: string): string
  search(path: string): Generator<SearchMatch>
}

/** Undefined: the page is served. */
export const file: HeldFile | undefined = openFile()

/** Islands of steps that are kept parsed. */
const MOST_ISLANDS = 5
/** As the server does: so many cards at once, with so much of each text. */
const CARDS = 48
const CARD_CHARACTERS = 4096
const MOST_MATCHES = 1000

function openFile(): HeldFile | undefined {
  const head = island<FileHead>('file')
  if (head === undefined) return undefined
  const runs = new Map<string, FileRun>()
  /** The one that was used last is at the end. */
  const kept = new Map<string, FileSteps>()

  function runWith(key: string): FileRun {
    const run = runs.get(key) ?? island<FileRun>(`run ${key}`)
    if (run === undefined) throw new RouteError('This file does not hold this run.', 404)
    runs.set(key, run)
    return run
  }

  function islandWith(key: string, n: number): FileSteps | undefined {
    const from = runWith(key).islands.findLast((first) => first <= n)
    const name = `steps ${key} ${from}`
    const steps = kept.get(name) ?? island<FileSteps>(name)
    if (steps === undefined) return undefined
    kept.delete(name)
    kept.set(name, steps)
    for (const other of kept.keys()) {
      if (kept.size <= MOST_ISLANDS) break
      kept.delete(other)
    }
    return steps
  }

  function stepWith(key: string, n: number): FileStep {
    const step = islandWith(key, n)?.steps.find(({ whole }) => whole.card.n === n)
    if (step === undefined) throw new RouteError(`This run has no step ${n}.`, 404)
    return step
  }

  function stepList(key: string, words: URLSearchParams): StepList {
    const row = head?.runs.find((each) => each.key === key)
    if (row === undefined) throw new RouteError('This file does not hold this run.', 404)
    const all = runWith(key)[words.get('failed') === '1' ? 'failed' : 'steps']
    const after = words.get('after')
    const before = Number(words.get('before') ?? Number.POSITIVE_INFINITY)
    const wanted =
      after === null
        ? all.filter((n) => n < before).slice(-CARDS)
        : all.filter((n) => n > Number(after)).slice(0, CARDS)
    return {
      run: row,
      steps: wanted.map((n) => shortened(stepWith(key, n).whole.card)),
      hasBefore: wanted.length > 0 && wanted[0] !== all[0],
      hasAfter: wanted.length > 0 && wanted.at(-1) !== all.at(-1),
      seq: 0,
    }
  }

  function answer(path: string): unknown {
    const { pathname, searchParams } = new URL(path, 'file:///')
    if (pathname === '/api/runs') return { runs: head?.runs, since: 0 }
    const [, , , key = '', what, n, part] = pathname.split('/')
    if (what === 'steps' && n === undefined) return stepList(key, searchParams)
    if (what === 'steps' && part === undefined) return stepWith(key, Number(n)).whole
    if (what === 'steps' && part === 'changes') return stepWith(key, Number(n)).changes ?? NO_CHANGES
    const about = key || (searchParams.get('ids') ?? searchParams.get('a') ?? '')
    const found = runWith(about).answers[path]
    if (found === undefined)
      throw new RouteError(
        pathname === '/api/diff'
          ? 'This file does not compare these two runs.'
          : 'This file does not hold it.',
        404,
      )
    return found
  }

  function text(path: string, from: number): { text: string; size: number; end: number } {
    const [, , , key = '', , n, ...rest] = path.split('/')
    const index = stepWith(key, Number(n)).texts[rest.join('/')]
    const isOutput = rest[0] === 'calls'
    if (index === undefined && isOutput) return { text: '', size: 0, end: 0 } // it printed nothing
    const texts = islandWith(key, Number(n))?.texts ?? []
    const found = texts[index ?? -1]
    if (index === undefined || found === undefined) throw new RouteError('It is not recorded.', 404)
    const held = wholeText(texts, index)
    const end = new TextEncoder().encode(held).length
    return { text: from === 0 ? held : '', size: found.bytes, end }
  }

  function image(path: string): string {
    for (const run of head?.runs ?? [])
      for (const from of path.startsWith(`/api/runs/${run.key}/`) ? runWith(run.key).islands : []) {
        const found = islandWith(run.key, from)?.images[path]
        if (found !== undefined) return found
      }
    throw new RouteError('This file does not hold the image.', 404)
  }

  function* search(path: string): Generator<SearchMatch> {
    const { pathname, searchParams } = new URL(path, 'file:///')
    const key = pathname.split('/')[3] ?? ''
    const wanted = new RegExp((searchParams.get('q') ?? '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu')
    let found = 0
    for (const n of runWith(key).steps)
      for (const { text: said, ...place } of textsIn(stepWith(key, n).whole.card))
        for (const { index, 0: match } of said.matchAll(wanted)) {
          if (found++ === MOST_MATCHES) return
          const end = index + match.length
          yield {
            n,
            ...place,
            before: said.slice(Math.max(0, index - 60), index),
            match,
            after: said.slice(end, end + 60),
          }
        }
  }

  return { head, answer, text, image, search }
}

const NO_CHANGES = { files: null, unknown: null, steps: [], omitted: [], omittedCount: 0 }

function island<Value>(name: string): Value | undefined {
  const found = document.querySelector(`script[data-delta="${CSS.escape(name)}"]`)
  return found === null ? undefined : (JSON.parse(found.textContent ?? '') as Value)
}

function wholeText(texts: readonly FileText[], index: number): string {
  const { text, like } = texts[index] as FileText
  if (like === undefined) return text
  const [other, start, end] = [wholeText(texts, like[0]), like[1], like[2]]
  return other.slice(0, start) + text + other.slice(other.length - end)
}

function shortened(card: StepCard): StepCard {
  const short = JSON.stringify(card, (_, value: unknown) => {
    const { text, bytes } = Object(value) as Partial<Text>
    if (text === undefined || bytes === undefined || text.length <= CARD_CHARACTERS) return value
    return { text: text.slice(0, CARD_CHARACTERS), bytes }
  })
  return JSON.parse(short) as StepCard
}

type Place = Pick<SearchMatch, 'where' | 'tool' | 'actionId'> & { text: string }

/** What a search finds, in the order of the journal. Of a long result, its first and last lines. */
function textsIn({ said, reasoning, thought, calls, errors }: StepCard): Place[] {
  return [
    ...said.map(({ text }): Place => ({ where: 'said', text: text.text })),
    { where: 'reasoning', text: reasoning?.text ?? '' },
    { where: 'thought', text: thought?.text ?? '' },
    ...calls.map(
      ({ tool, actionId, arguments: { text } }): Place => ({ where: 'call', tool, actionId, text }),
    ),
    ...calls.map(({ tool, actionId, output: { first, last } }): Place => {
      return { where: 'result', tool, actionId, text: [...first, ...last].join('\n') }
    }),
    ...errors.map(({ message }): Place => ({ where: 'error', text: message })),
  ]
}
