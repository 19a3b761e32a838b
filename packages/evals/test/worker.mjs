import { work } from '@delta/evals'

/** One worker of the evaluation in a directory, until nothing is left; a test kills it. */
const [directory = '', concurrency = '4'] = process.argv.slice(2)
await work(directory, {
  concurrency: Number(concurrency),
  onChange: ({ kind, cell }) => kind !== 'event' && console.log(kind, cell?.cell),
})
