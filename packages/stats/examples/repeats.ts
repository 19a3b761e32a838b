import { minimumDetectableEffect } from '@delta/stats'

const SPREAD = 0.15 // sd over tasks of how much better the second variant is at a task
const NOISE = 0.15 // variance of one try at a task, p(1 - p), in the mean

for (const [tasks, repeats] of [
  [34, 1],
  [34, 5],
  [34, 20],
  [34, Infinity],
  [170, 1],
  [170, 5],
] as const) {
  const sd = Math.sqrt(SPREAD ** 2 + (2 * NOISE) / repeats)
  console.log(`${tasks} tasks x ${repeats}: ${minimumDetectableEffect({ sd, n: tasks }).toFixed(3)}`)
}
