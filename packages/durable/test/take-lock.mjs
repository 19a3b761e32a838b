// Takes the lock named in argv when told to, says what came of it, and keeps it until it is killed or told to release it.
import { createInterface } from 'node:readline'
import { takeLock } from '../dist/index.js'

const [directory] = process.argv.slice(2)
const onHeld = () => Promise.reject(new Error('held'))
let lock
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'take') {
      lock = await takeLock(directory, { onHeld })
      console.log(`number ${lock.number}`)
    } else {
      lock.release()
      console.log('released')
    }
  } catch (error) {
    console.log(error.message)
  }
}
