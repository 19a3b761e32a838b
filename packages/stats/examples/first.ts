import { type Interval, pairedDifference, rate } from '@delta/stats'

// 34 tasks, tried 5 times each. A digit is how often its task was solved.
const luna = tries('5030345253145243202504242344224103')
const sonnet = tries('5030435454255353302531053554434414')

for (const [name, { values, tasks }] of Object.entries({ luna, sonnet })) show(name, rate(values, tasks))
const difference = pairedDifference(luna.pairs, sonnet.pairs)
show('sonnet - luna', difference)
console.log('p', difference.p.toFixed(3))

function tries(solved: string) {
  const tasks = [...solved].flatMap((_, task) => [task, task, task, task, task])
  const values = [...solved].flatMap((count) => [1, 2, 3, 4, 5].map((i) => (i <= Number(count) ? 1 : 0)))
  return { values, tasks, pairs: values.map((value, index) => ({ task: tasks[index] ?? 0, value })) }
}

function show(name: string, { estimate, low, high }: Interval) {
  console.log(name.padEnd(13), estimate.toFixed(3), `(${low.toFixed(3)} to ${high.toFixed(3)})`)
}
