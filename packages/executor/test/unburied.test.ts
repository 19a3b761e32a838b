import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { pidIn, run, workspace } from './workspace.js'

const GRACE_MS = 50_000

test.skipIf(process.platform !== 'linux')('a dead process that nobody buries is not waited for', async () => {
  const { path } = await workspace()
  const controller = new AbortController()
  // A child of the command leaves the group with setsid; what it leaves there it will never wait for.
  const leaves = 'sleep 60 & echo $! > member; echo $$ > leaver; exec setsid sleep 60'
  const started = run(['sh', '-c', `sh -c '${leaves}' & wait`], {
    cwd: path,
    signal: controller.signal,
    graceMs: GRACE_MS,
  })
  const member = pidIn(await waitForFile(join(path, 'member'), '\n'))
  const leaver = pidIn(await waitForFile(join(path, 'leaver'), '\n'))
  onTestFinished(() => void process.kill(leaver, 'SIGKILL'))
  while (groupOf(leaver) === groupOf(member)) await new Promise(setImmediate)
  controller.abort()

  const { status, durationMs } = await started
  expect(status).toBe('ABORTED')
  expect(durationMs).toBeLessThan(GRACE_MS)
  expect([isAlive(leaver), isAlive(member)]).toEqual([true, false])
  expect(readFileSync(`/proc/${member}/stat`, 'utf8')).toContain(') Z ')
})

function groupOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]
}
