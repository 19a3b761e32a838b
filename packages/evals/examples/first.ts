import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nameOfCell, planEval, readEval, results, work } from '@delta/evals'

const home = mkdtempSync(join(tmpdir(), 'delta-'))
mkdirSync(join(home, 'tasks/greet/solution'), { recursive: true })
writeFileSync(join(home, 'tasks/greet/instruction.md'), 'Write hello into the file greeting.')
writeFileSync(join(home, 'tasks/greet/solution/solve.sh'), 'echo hello > greeting')
writeFileSync(
  join(home, 'eval.yaml'),
  'tasks: tasks/\nvariants: { oracle: { agent: oracle }, nop: { agent: nop } }\nscore: { equals: hello, file: greeting }\n',
)

const directory = join(home, 'greetings.eval')
await planEval(await readEval(join(home, 'eval.yaml')), directory)
await work(directory)
for (const { cell, result } of results(directory)) console.log(nameOfCell(cell), result?.score)
