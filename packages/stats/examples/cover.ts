import { betaQuantile, clusteredMean, rate, wilson } from '@delta/stats'

let state = 1
function random(): number {
  state = (state * 48_271) % 2_147_483_647
  return state / 2_147_483_647
}

/** How often, in 1,000 evaluations of 34 tasks drawn anew, each interval holds the true rate. */
function cover(mean: number, repeats: number): string {
  // Tasks differ: two tries of the same one correlate by 0.4.
  const chances = Array.from({ length: 1000 }, (_, i) =>
    betaQuantile((i + 0.5) / 1000, 1.5 * mean, 1.5 * (1 - mean)),
  )
  const truth = chances.reduce((sum, chance) => sum + chance, 0) / 1000
  const tasks = Array.from({ length: 34 * repeats }, (_, i) => Math.floor(i / repeats))
  const held = [0, 0, 0]
  for (let evaluation = 0; evaluation < 1000; evaluation++) {
    const drawn = Array.from({ length: 34 }, () => chances[Math.floor(1000 * random())] ?? 0)
    const values = tasks.map((task) => (random() < (drawn[task] ?? 0) ? 1 : 0))
    const solved = values.filter((value) => value === 1).length
    const intervals = [rate(values, tasks), clusteredMean(values, tasks), wilson(solved, values.length)]
    for (const [index, { low, high }] of intervals.entries()) {
      if (low <= truth && truth <= high) held[index] = (held[index] ?? 0) + 1
    }
  }
  return held.map((count) => `${(count / 10).toFixed(1)} %`.padStart(14)).join('')
}

console.log('tasks  true rate          rate  clusteredMean       wilson')
for (const repeats of [5, 1]) {
  for (const mean of [0.64, 0.9, 0.95]) {
    console.log(`34 x ${repeats}       ${mean.toFixed(2)}${cover(mean, repeats)}`)
  }
}
