import {
  clusteredMean,
  holm,
  minimumDetectableEffect,
  pairedDifference,
  requiredTasks,
  signFlip,
  type TaskValue,
} from '@delta/stats'

const luna = tries('5030345253145243202504242344224103')
const sonnet = tries('5030435454255353302531053554434414')

const [a, b] = [luna, sonnet].map((variant) =>
  clusteredMean(
    variant.map(({ value }) => value),
    variant.map(({ task }) => task),
  ),
)
const { estimate, se, p, differences, tasks } = pairedDifference(luna, sonnet)
console.log('difference              ', estimate.toFixed(3))
console.log('se, as if of other tasks', Math.hypot(a?.se ?? 0, b?.se ?? 0).toFixed(3))
console.log('se, task by task        ', se.toFixed(3))
console.log('p of t, of sign flips   ', p.toFixed(3), signFlip(differences).p.toFixed(3))
console.log('p, one of 3 comparisons ', holm([p, 0.02, 0.6])[0]?.toFixed(3))

const sd = se * Math.sqrt(tasks.length)
console.log('found 4 times in 5      ', minimumDetectableEffect({ sd, n: tasks.length }).toFixed(3))
console.log('tasks to find 0.05      ', requiredTasks({ sd, effect: 0.05 }))

function tries(solved: string): TaskValue[] {
  return [...solved].flatMap((count, task) =>
    [1, 2, 3, 4, 5].map((i) => ({ task, value: i <= Number(count) ? 1 : 0 })),
  )
}
