/**
 * Reads the `data` of each event in a `text/event-stream`, as its bytes come.
 *
 * Comments, event names and ids are skipped. An event that is not closed by an empty line still counts at the end of the
 * stream: some servers forget it.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of readLines(body)) {
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
  if (data.length > 0) yield data.join('\n')
}

async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    // A carriage return at the end may be half of a line break, so it waits for what follows.
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest.replace(/\r$/, '')
}
