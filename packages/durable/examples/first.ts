import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Holder, replaceFile, takeLock } from '@delta/durable'

const directory = mkdtempSync(join(tmpdir(), 'backup-'))
const state = join(directory, 'state.json')

/** A nightly backup: never two at once, never half a state, whatever is killed when. */
async function backUp(night: string): Promise<string> {
  const lock = await takeLock(join(directory, 'lock'), { onHeld: refuse })
  replaceFile(state, `${JSON.stringify({ night })}\n`)
  if (night === 'Monday') console.log(await backUp('Tuesday').catch(String))
  lock.release()
  return `Done as number ${lock.number}.`
}

async function refuse({ record }: Holder): Promise<boolean> {
  throw new Error(record?.pid === process.pid ? 'This process is at it.' : `Process ${record?.pid} is at it.`)
}

console.log(await backUp('Monday'))
console.log(await backUp('Wednesday'))
console.log(readFileSync(state, 'utf8').trim())
