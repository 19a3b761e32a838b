import { fileURLToPath } from 'node:url'
import { canStart, startProcess, unseenProcesses } from '@delta/testkit'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, temporaryDirectory } from './helpers.js'
import { createRun } from './of-runs.js'

const HOLDER = fileURLToPath(new URL('holder.mjs', import.meta.url))

test.for(Object.entries(unseenProcesses))(
  'where %s, a living owner is not taken for dead',
  async ([, place], context) => {
    context.skip(!canStart(place), 'a user namespace is needed, and refused here')
    const run = await createRun(temporaryDirectory(), { events: firstEvents })
    run.close()
    const owner = holder(place, run.directory)
    expect(await owner.opens()).toBe('epoch 2')
    expect(await holder(place, run.directory).opens()).toBe('ERR_RUN_BUSY')
    expect(await owner.opens()).toBe('ERR_RUN_BUSY')
  },
)

function holder(place: readonly string[], directory: string) {
  const child = startProcess([...place, process.execPath, HOLDER, directory], { interactive: true })
  afterTest(() => child.kill('SIGKILL'))
  async function opens(): Promise<string | undefined> {
    await child.waitForOutput('ready\n')
    const lines = child.stdout.split('\n').length
    child.write('open\n')
    const text = await child.waitForOutput((text) => text.split('\n').length > lines)
    return text.split('\n').at(-2)
  }
  return { opens }
}
