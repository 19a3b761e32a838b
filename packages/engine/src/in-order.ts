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
  },
): Promise<Stop | undefined> {
  const running = new Set<Promise<void>>()
  let stop: Stop | undefined

  for (const item of items) {
    const alone = options.concurrency <= 1 || options.isBarrier(item)
    while (running.size > 0 && (alone || running.size >= options.concurrency)) await Promise.race(running)
    if (stop !== undefined) break
    const task: Promise<void> = options.each(item).then((result) => {
      running.delete(task)
      stop ??= result
    })
    running.add(task)
    if (alone) await task
    if (stop !== undefined) break
  }
  await Promise.all(running)
  return stop
}
