import type { Failure, LiveMessage, SearchMatch } from '../src/api.js'
import { RouteError } from './errors.js'
import { file } from './file.js'

export { RouteError } from './errors.js'

/** The answer of a route as a value. @throws {RouteError} The server refused, or could not be reached. */
export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  if (file) return file.answer(path) as Answer
  const response = await request(path, signal ? { signal } : {})
  return (await response.json()) as Answer
}

/** A raw text, or a piece of it: `from` and the byte after the last one. `size` is that of the whole. */
export async function getText(
  path: string,
  { from, to, signal }: { from?: number; to?: number; signal?: AbortSignal } = {},
): Promise<{ text: string; size: number; end: number }> {
  if (file) return file.text(path, from ?? 0)
  const range = from === undefined ? {} : { Range: `bytes=${from}-${to === undefined ? '' : to - 1}` }
  const response = await request(path, { headers: range, ...(signal && { signal }) })
  if (response.status === 416) return { text: '', size: from ?? 0, end: from ?? 0 }
  const bytes = new Uint8Array(await response.arrayBuffer())
  const [, last, size] = /bytes \d+-(\d+)\/(\d+)/.exec(response.headers.get('content-range') ?? '') ?? []
  return {
    text: new TextDecoder().decode(bytes),
    size: size === undefined ? bytes.length : Number(size),
    end: last === undefined ? (from ?? 0) + bytes.length : Number(last) + 1,
  }
}

/** An image as a `data:` URI: nothing else can be shown by the page, and it is known to be of this type. */
export async function getImage(path: string, mediaType: string): Promise<string> {
  if (file) return file.image(path)
  const response = await request(path, {})
  const blob = new Blob([await response.arrayBuffer()], { type: mediaType })
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}

async function request(path: string, options: RequestInit): Promise<Response> {
  const headers = { ...options.headers, Authorization: `Bearer ${token()}` }
  let response: Response
  try {
    response = await fetch(path, { ...options, headers })
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new RouteError('The server does not answer. It was stopped: run `delta view` again.', 0)
  }
  if (response.ok || response.status === 416) return response
  const { error } = (await response.json().catch(() => ({}))) as Partial<Failure>
  throw new RouteError(error ?? `The server answered ${response.status}.`, response.status)
}

const TOKEN = 'delta-view-token'

/** Takes the token out of the address bar, so that it is in no history and no screenshot. */
export function takeToken(): void {
  const [, found, rest] = /^#t=([\w-]+)[&#]?(\/.*)?$/.exec(location.hash) ?? []
  if (found === undefined) return
  sessionStorage.setItem(TOKEN, found)
  history.replaceState(null, '', `#${rest ?? '/'}`)
}

function token(): string {
  return sessionStorage.getItem(TOKEN) ?? ''
}

/** Matches of a search as they are found. */
export async function* search(path: string, signal: AbortSignal): AsyncGenerator<SearchMatch> {
  if (file) return yield* file.search(path)
  const response = await request(path, { signal })
  for await (const line of linesOf(response)) if (line !== '') yield JSON.parse(line) as SearchMatch
}

/**
 * What happens in a run from an event on: nothing in an exported file. When the connection ends it is made again from the last event
 * that came.
 */
export async function* live(key: string, seq: number, signal: AbortSignal): AsyncGenerator<LiveMessage> {
  if (file) return
  let after = seq
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      const response = await request(`/api/live?run=${encodeURIComponent(key)}&after=${after}`, { signal })
      let data = ''
      for await (const line of linesOf(response)) {
        if (line.startsWith('id:')) after = Number(line.slice(3))
        else if (line.startsWith('data:')) data += line.slice(5).trimStart()
        else if (line === '' && data !== '') {
          failures = 0
          yield JSON.parse(data) as LiveMessage
          data = ''
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof RouteError && error.status >= 400) throw error
    }
    await pause(Math.min(5000, 250 * 2 ** failures), signal)
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let held = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (held + value).split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  if (held !== '') yield held
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
