import { notUtf8 } from './failure.js'
import type { Asked } from './failure-kind.js'

/**
 * Reads the `data` of each event in a `text/event-stream`, as its bytes come.
 *
 * Comments, event names and ids are skipped. An event that is not closed by an empty line still counts at the end of the
 * stream, because some servers omit that line.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: the stream is not UTF-8.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>, asked: Asked): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of readLines(body, asked)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
  if (data.length > 0) yield data.join('\n')
}

async function* readLines(body: AsyncIterable<Uint8Array>, asked: Asked): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch (cause) {
      throw notUtf8(asked, cause)
    }
  }
  let begun: string[] = [] // the pieces of a line that has not ended, joined once: a line may be megabytes long
  for await (const bytes of body) {
    const text = decode(bytes)
    const mayEnd = /[\r\n]/.test(text) || begun.at(-1)?.endsWith('\r')
    begun.push(text)
    if (!mayEnd) continue
    // A carriage return at the end may be half of a line break, so it waits for what follows.
    const lines = begun.join('').split(/\r\n|\n|\r(?!$)/)
    begun = [lines.pop() ?? '']
    yield* lines
  }
  const rest = begun.join('') + decode()
  if (rest !== '') yield rest.replace(/\r$/, '')
}
