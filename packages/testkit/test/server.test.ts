import { test } from 'vitest'
import { startProcess, temporaryWorkspace, waitForExit } from '../src/index.js'

test('it ends with the process that started it, even if that one was killed', async () => {
  await using directory = await temporaryWorkspace({
    'parent.mjs': `
      import { startScriptedServer } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
      const server = await startScriptedServer([])
      console.log('server ' + server.pid)
      setInterval(() => {}, 1000)
    `,
  })
  const env = { ...process.env, TMPDIR: directory.path } // what is killed leaves its temporary files
  const parent = startProcess([process.execPath, 'parent.mjs'], { cwd: directory.path, env })
  const pid = Number((await parent.waitForOutput(/server \d+\n/)).match(/\d+/)?.[0])
  parent.kill('SIGKILL')
  await waitForExit(pid)
})
