import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { temporaryWorkspace, tryLimits, waitForExit } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leavesOf, loadAtip } from '../src/index.js'

const notes = fileURLToPath(new URL('fixtures/notes', import.meta.url))
const workspace = () => temporaryWorkspace({}, { onCleanup: onTestFinished })

async function file(text: string): Promise<string> {
  return await (await workspace()).write('tool.json', text)
}

describe('loadAtip', () => {
  test('asks a command to describe itself', async () => {
    const tool = await loadAtip({ command: [notes, '--agent'] })
    expect(leavesOf(tool).map(({ name }) => name)).toEqual(['notes_add', 'notes_list', 'notes_wipe'])
  })

  test('reads a file', async () => {
    const tool = await loadAtip(
      await file('{"atip":"0.6","name":"box","version":"1","description":"d","x-own":1}'),
    )
    expect(tool).toMatchObject({ name: 'box', 'x-own': 1 })
  })

  test.each([
    ['exits with an error', ['false'], 'ERR_ATIP_COMMAND'],
    ['does not exist', ['no-such-command-anywhere'], 'ERR_ATIP_COMMAND'],
    ['has a NUL byte', ['gh', 'a\0b'], 'ERR_ATIP_COMMAND'],
    ['prints no JSON', ['echo', 'usage: box'], 'ERR_ATIP_NOT_JSON'],
    ['prints without end', ['yes'], 'ERR_ATIP_TOO_LARGE'],
    ['prints JSON that is not ATIP', ['echo', '{"name":"box"}'], 'ERR_ATIP_INVALID'],
  ])('refuses a command that %s', async (_case, command, code) => {
    await expect(loadAtip({ command })).rejects.toMatchObject({ code })
  })

  test('gives a command the environment it is told to', async () => {
    const metadata = `{"atip":"0.6","name":"box","version":"1","description":"'$WHO'"}`
    const command = ['/bin/sh', '-c', `echo '${metadata}'`]
    expect(await loadAtip({ command }, { env: { WHO: 'me' } })).toMatchObject({ description: 'me' })
  })

  test('gives up on a command that ignores SIGTERM, and what it started ends with it, also where it ends by itself', async () => {
    const { path } = await workspace()
    const pid = () => Number(readFileSync(`${path}/started`, 'utf8'))
    const bash = (script: string) => ['bash', '-c', `cd ${path}; sleep 300 & echo $! > started; ${script}`]
    const attempt = (timeoutMs: number) =>
      loadAtip({ command: bash("trap '' TERM; wait") }, { timeoutMs }).catch((caught) => caught)
    const [error] = await tryLimits(attempt, () => existsSync(`${path}/started`) && pid() > 0)
    expect(error).toMatchObject({ code: 'ERR_ATIP_TIMEOUT' })
    await waitForExit(pid())
    await expect(loadAtip({ command: bash('exit 1') })).rejects.toThrow('ended with exit code 1.')
    await waitForExit(pid())
  })

  test('says of a file without the right to be executed that it is there', async () => {
    await expect(loadAtip({ command: [await file('{}')] })).rejects.toThrow('it cannot be executed.')
  })

  test('runs no shell, and says where a file stops being JSON, or that it is not there', async () => {
    const { path } = await workspace()
    const missing = `${path}/marker`
    const command = ['echo', `; touch ${missing}`]
    await expect(loadAtip({ command })).rejects.toMatchObject({ code: 'ERR_ATIP_NOT_JSON' })
    await expect(loadAtip(missing)).rejects.toMatchObject({ code: 'ERR_ATIP_READ' })
    await expect(loadAtip(await file('{"atip": '))).rejects.toThrow(
      /tool\.json: not JSON \(.*\)\. ATIP metadata is one/,
    )
  })
})
