// Opens the run named in argv when told to "open", and does what each further line says.
import { createInterface } from 'node:readline'
import { openRun } from '../dist/runs.js'

const [directory, force] = process.argv.slice(2)
let run
console.log('ready')

for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'open') {
      run = await openRun(directory, { force: force === 'force' })
      console.log(`epoch ${run.epoch}`)
    } else if (line.startsWith('append ')) {
      run.journal.append({ type: 'USER_MESSAGE', content: line.slice('append '.length) })
      run.journal.sync()
      console.log(`appended ${run.journal.lastSeq}`)
    } else if (line === 'close') {
      run.close()
      console.log('closed')
    }
  } catch (error) {
    console.log(error.code ?? error.stack)
  }
}
