/**
 * Runs `each` over the items, at most `concurrency` at once, starting them in order. A barrier waits for everything
 * before it and holds back everything after it. The first defined result stops the starting of further items and is
 * returned once those already started have ended.
 */
export async function inOrder<Item, Stop>(
  items: readonly Item[],
  options: {
    concurrency: number
    isBarrier(item: Item): boolean
    each(item: Item): Promise<Stop | undefined>
    /** Called when one has failed, while others may run. */
    onFailure?(): void
  },
): Promise<Stop | undefined> {
  const running = new Set<Promise<void>>()
  let stop: Stop | undefined
  let failure: { error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    options.onFailure?.()
  }

  for (const item of items) {
    const alone = options.concurrency <= 1 || options.isBarrier(item)
    while (running.size > 0 && (alone || running.size >= options.concurrency)) await Promise.race(running)
    if (stop !== undefined || failure) break
    const task: Promise<void> = options
      .each(item)
      .then((result) => {
        stop ??= result
      }, fail)
      .finally(() => running.delete(task))
    running.add(task)
    if (alone) await task
    if (stop !== undefined || failure) break
  }
  await Promise.all(running)
  if (failure) throw failure.error
  return stop
}
