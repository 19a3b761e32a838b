import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isKnownEvent } from '@delta/journal/runs'
import { startScriptedServer } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { EngineEvent, RunResult } from '../src/index.js'
import { sayToRun } from '../src/internal.js'
import { expectSame, recorded } from './recorded.js'
import { calls, eventsIn, eventsOf, scene } from './run.js'

/** A tool that says something to its run, as anything can that may write there. */
const HEAR = {
  name: 'hear',
  shell: 'mkdir -p "$DELTA_RUN_DIR/inbox"; printf Faster. > "$DELTA_RUN_DIR/inbox/m1"; echo x >> heard.txt',
}

async function serve(...turns: Parameters<typeof startScriptedServer>[0] & unknown[]) {
  const server = await startScriptedServer(turns)
  onTestFinished(() => server.close())
  return server
}

const inboxOf = (directory: string) => {
  const inbox = join(directory, 'inbox')
  return existsSync(inbox) ? readdirSync(inbox) : []
}

async function saidIn(result: RunResult) {
  const events = (await eventsOf(result)).filter(isKnownEvent)
  return events.filter((event) => event.type === 'USER_MESSAGE')
}

/** Says a text when the model has answered without a call, which is the last instant. */
function sayAtTheEnd(text: string, more: (inbox: string) => void = () => undefined) {
  let directory = ''
  let isSaid = false
  return {
    onRun: (path: string) => {
      directory = path
    },
    onEvent: (event: EngineEvent) => {
      if (isSaid || event.kind !== 'journal' || event.event.type !== 'THOUGHT') return
      if (event.event.tool_calls.length > 0) return
      isSaid = true
      sayToRun(directory, text)
      more(join(directory, 'inbox'))
    },
  }
}

/** `npm run test:real` kills after each line. */
const LINES = process.env.DELTA_TESTS === 'real' ? 1 : 3

test('killed after each line of its journal, a run reads a message once: not twice by a kill before its deletion', async () => {
  const server = await serve(calls('hear'), calls('hear'), { content: 'The end.' })
  for (let line = 1; ; line += LINES) {
    const run = await scene({ baseUrl: server.baseUrl, tools: [HEAR] })
    const killed = await run.start(line).result
    if (killed.signal !== null) expect((await run.start().result).exitCode).toBe(0)
    const events = (await eventsIn(run.workspace)) as unknown as Record<string, unknown>[]
    const heard = events.filter(({ inbox_id }) => inbox_id === 'm1')
    expect(heard.map(({ content }) => content)).toEqual(
      existsSync(join(run.workspace.path, 'heard.txt')) ? ['Faster.'] : [],
    )
    expect(inboxOf(join(run.workspace.path, '.delta', String(events[0]?.run_id)))).toEqual([])
    if (killed.signal === null) {
      expect(line).toBeGreaterThan(8)
      return
    }
  }
})

test('what is said while the model answers for the last time is answered, too', async () => {
  const server = await serve({ content: 'Done.' }, { content: 'In French, too.' })
  const { run } = await scene({ baseUrl: server.baseUrl })
  const result = await run(sayAtTheEnd('And in French.'))
  expect([result.answer, result.iterations]).toEqual(['In French, too.', 2])
  const said = await saidIn(result)
  expect(said.map(({ content }) => content)).toEqual(['Go', 'And in French.'])
  expect(JSON.parse(server.requests()[1]?.body ?? '').messages.at(-1)).toEqual({
    role: 'user',
    content: 'And in French.',
  })
  expect(inboxOf(result.runDirectory)).toEqual([])
})

test('a message keeps no run alive: without an iteration left it waits, and a continuation without a message takes it', async () => {
  const server = await serve({ content: 'Done.' }, calls('note'), { content: 'More.' })
  const note = { name: 'note', exec: 'true' }
  const { run, resume } = await scene({
    baseUrl: server.baseUrl,
    tools: [note],
    agent: { max_iterations: 1 },
  })
  const first = await run(sayAtTheEnd('More.'))
  expect([first.status, first.answer, first.iterations]).toEqual(['COMPLETED', 'Done.', 1])
  expect(inboxOf(first.runDirectory)).toHaveLength(1)

  const second = await resume()
  expect([second.status, second.reasonCode, second.iterations]).toEqual(['FAILED', 'limit_iterations', 2])
  expect(inboxOf(first.runDirectory)).toEqual([])
  await expect(resume()).rejects.toMatchObject({ code: 'ERR_ENGINE_MESSAGE_REQUIRED' })
  sayToRun(first.runDirectory, 'Go on.')
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'More.', iterations: 3 })
})

test('nothing but a text is read from an inbox, and no link is followed', async () => {
  const server = await serve({ content: 'Done.' })
  const { run, workspace } = await scene({ baseUrl: server.baseUrl })
  await workspace.write('secret.txt', 'SECRET')
  const putThere = (inbox: string) => {
    symlinkSync(join(workspace.path, 'secret.txt'), join(inbox, 'link'))
    writeFileSync(join(inbox, 'bytes'), Buffer.from([0xff, 0xfe]))
    writeFileSync(join(inbox, 'half.tmp'), 'half')
    writeFileSync(join(inbox, 'long'), '')
    truncateSync(join(inbox, 'long'), 300_000_000)
    for (const name of readdirSync(inbox)) if (name.startsWith('2')) writeFileSync(join(inbox, name), '\0')
  }
  const result = await run(sayAtTheEnd('Unread.', putThere))
  expect(result).toMatchObject({ status: 'COMPLETED', iterations: 1 })
  expect(result.warnings).toEqual([
    expect.stringMatching(/^Not read as a message: \/.*\/inbox\/2\w+ is not UTF-8 text\.$/),
    expect.stringMatching(/inbox\/bytes is not UTF-8 text\.$/),
    expect.stringMatching(/inbox\/link is not a regular file\.$/),
    expect.stringMatching(/inbox\/long is longer than 1 MiB\.$/),
  ])
  expect(inboxOf(result.runDirectory)).toHaveLength(5)
})

test('what is taken at a time is bounded, and so is what is named: the others wait for the next time', async () => {
  const server = await serve({ content: 'Done.' }, { content: 'Heard.' })
  const { run } = await scene({ baseUrl: server.baseUrl, agent: { max_iterations: 2 } })
  const putThere = (inbox: string) => {
    for (let at = 0; at < 30; at += 1) mkdirSync(join(inbox, `a${at}`))
    for (let at = 0; at < 110; at += 1) writeFileSync(join(inbox, `m${1000 + at}`), 'Word.')
    for (let at = 0; at < 4; at += 1) writeFileSync(join(inbox, `n${at}`), 'x'.repeat(600_000))
  }
  const result = await run(sayAtTheEnd('First.', putThere))
  expect([result.status, result.iterations, result.warnings?.length]).toEqual(['COMPLETED', 2, 10])
  const said = (await saidIn(result)).map(({ inbox_id }) => inbox_id).slice(1)
  expect(said).toHaveLength(100 + 12)
  expect(said.at(-1)).toBe('n0')
  expect(inboxOf(result.runDirectory)).toHaveLength(30 + 3)
})

test('a replay says it in the same place, and condition task_contains sees it', async () => {
  const turns = [calls('hear'), { content: 'Done.' }, { content: 'In French, too.' }]
  const context = `sources:
  - {type: text, text: "Hurry.", condition: {when: task_contains, pattern: faster}}
  - {type: journal}`
  const server = await serve(...turns)
  const { run, replay } = await recorded({
    baseUrl: server.baseUrl,
    tools: [HEAR],
    files: { 'context.yaml': context },
  })
  const original = await run(sayAtTheEnd('And in French.'))
  expect(original).toMatchObject({ status: 'COMPLETED', iterations: 3 })
  const roles = server.requests().map(({ body }) => JSON.parse(body).messages[0].role)
  expect(roles).toEqual(['user', 'system', 'system'])
  const again = await replay(original)
  await expectSame(original, again)
  const said = await saidIn(again.result)
  expect(said.map(({ content, replayed }) => [content, replayed])).toEqual([
    ['Go', undefined],
    ['Faster.', true],
    ['And in French.', true],
  ])
  await expectSame(again.result, await replay({ runDirectory: again.directory }))
})
