import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canStart, containers, isAlive, startProcess, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { endSession } from '../src/index.js'
import { start, startCommandLine } from './helpers.js'

test.for(Object.entries(containers))(
  'a command waits for the one that %s with the same host name runs',
  async ([, container], context) => {
    context.skip(!canStart(container), 'a user namespace is needed, and refused here')
    const { id, workDirectory, sessionsDirectory, print } = await start()
    const first = 'touch began; sleep 0.3; echo first >> order'
    const elsewhere = startCommandLine(
      ['exec', id, first, '--sessions-dir', sessionsDirectory],
      workDirectory,
      {
        container,
      },
    )
    await waitForFile(join(workDirectory, 'began'))
    await print('echo second >> order')
    expect(await elsewhere.result).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(workDirectory, 'order'), 'utf8')).toBe('first\nsecond\n')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a process is not ended for the number and the time that a job of another container had',
  async () => {
    const { id, directory, sessionsDirectory } = await start()
    const { pid, kill } = startProcess(['sleep', '60'], { detached: true })
    onTestFinished(() => kill('SIGKILL'))
    const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]
    const metadata = join(directory, 'metadata.json')
    const text = readFileSync(metadata, 'utf8')
    const background_jobs = ['', '@another-bootpid:[1]'].map((where) => ({
      pid,
      start: `${ticks}${where}`,
      command: 'sleep',
    }))
    writeFileSync(metadata, JSON.stringify({ ...JSON.parse(text), background_jobs }))
    await endSession(id, { sessionsDirectory })
    expect(isAlive(pid)).toBe(true)
  },
)
