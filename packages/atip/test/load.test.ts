import { fileURLToPath } from 'node:url'
import { temporaryWorkspace } from '@delta/testkit'
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

  test('does not run a shell', async () => {
    const { path } = await workspace()
    const marker = `${path}/marker`
    await expect(loadAtip({ command: ['echo', `; touch ${marker}`] })).rejects.toMatchObject({
      code: 'ERR_ATIP_NOT_JSON',
    })
    await expect(loadAtip(marker)).rejects.toMatchObject({ code: 'ERR_ATIP_READ' })
  })

  test('gives up on a command that ignores SIGTERM and whose child holds the pipe', async () => {
    const command = ['bash', '-c', "trap '' TERM; sleep 300 & wait"]
    await expect(loadAtip({ command }, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'ERR_ATIP_TIMEOUT',
    })
  })

  test('says where a file stops being JSON', async () => {
    await expect(loadAtip(await file('{"atip": '))).rejects.toThrow(
      /tool\.json: not JSON \(.*\)\. ATIP metadata is one/,
    )
  })
})

test('a word with a NUL byte is a command that cannot be started', async () => {
  await expect(loadAtip({ command: ['gh', 'a\0b'] })).rejects.toMatchObject({ code: 'ERR_ATIP_COMMAND' })
})
