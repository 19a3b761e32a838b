import { hash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, records, scene } from './run.js'

test('a body that no record gives back fails its test, and so does an answered record that no server received', async () => {
  await using server = await startScriptedServer([calls('say'), { content: 'Done.', times: 2 }])
  const { run } = await scene({ baseUrl: server.baseUrl, tools: [{ name: 'say', exec: 'echo hi' }] })
  const { runDirectory } = await run()
  records.check()

  const [sent = ''] = server.requests().map(({ body }) => body)
  const body = sent.replace('"Go"', '"No"')
  await fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', body })
  expect(records.check).toThrow(`No record gives back request 3 to /v1/chat/completions:\n${body}`)

  const [name = ''] = await readdir(join(runDirectory, 'io/invocations'))
  const forged = join(runDirectory, 'io/invocations', `9${name}`)
  const record = JSON.parse(await readFile(join(runDirectory, 'io/invocations', name), 'utf8'))
  const request = { ...record.request, model: 'another' }
  const sha256 = hash('sha256', JSON.stringify(request))
  await writeFile(forged, JSON.stringify({ ...record, request, sha256 }))
  expect(records.check).toThrow(`No server received the answered request of ${forged}`)
  await rm(forged)
})
