import { setImmediate as breathe } from 'node:timers/promises'

const AT_ONCE_MS = 15

/** The same items, and time for other work between them: reading a journal never waits for anything by itself. */
export async function* unhurried<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
  let since = performance.now()
  for await (const item of items) {
    yield item
    if (performance.now() - since < AT_ONCE_MS) continue
    await breathe()
    since = performance.now()
  }
}
