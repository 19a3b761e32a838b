import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { createRun } from '../src/index.js'
import { afterTest, firstEvents, temporaryDirectory } from './helpers.js'

const HOLDER = fileURLToPath(new URL('holder.mjs', import.meta.url))

/** What a program is started with, to be where the system does not show it its own processes. */
const places: Record<string, string[]> = {
  'no /proc is mounted': [
    ...['unshare', '--map-root-user', '--mount'],
    ...['sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'],
  ],
  '/proc is that of another container': [
    ...['unshare', '--map-root-user', '--pid', '--fork', '--kill-child'],
    ...['sh', '-c', 'echo 32000 > /proc/sys/kernel/ns_last_pid; "$@"', 'sh'], // a number nobody has in that /proc
  ],
}

test.for(Object.entries(places))(
  'where %s, a living owner is not taken for dead',
  async ([, place], context) => {
    const [unshare = '', ...words] = [...place, 'true']
    context.skip(spawnSync(unshare, words).status !== 0, 'a user namespace is needed, and refused here')
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
