import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { findRun } from '../src/index.js'
import { isAnswerTo } from '../src/internal.js'
import { calls, eventsOfType, hooks, PROGRAM, scene } from './run.js'

const ASK = { name: 'ask_human', arguments: { prompt: 'Which colour?' } }
const TURNS = [{ tool_calls: [ASK] }, { content: 'It is {{last_observation}}.' }]

test('without a person the question waits in interaction/ for an answer in response.txt; a blank one is ignored, a damaged one refused', async () => {
  const { run, resume, workspace } = await scene({ turns: TURNS })
  const { runId, runDirectory, ...result } = await run()
  expect(result).toMatchObject({ status: 'WAITING_FOR_INPUT', question: { prompt: 'Which colour?' } })
  const [request, response] = ['request.json', 'response.txt'].map(
    (file) => `.delta/${runId}/interaction/${file}`,
  )
  expect(JSON.parse(await workspace.read(request ?? ''))).toMatchObject({
    request_id: expect.any(String),
    prompt: 'Which colour?',
    input_type: 'text',
    sensitive: false,
  })
  expect(await workspace.read(response ?? '')).toBe('')
  for (const blank of ['', '\n', ' ', '\uFEFF\r\n \t\r\n']) {
    await workspace.write(response ?? '', blank)
    expect(await resume()).toMatchObject({
      status: 'WAITING_FOR_INPUT',
      question: { prompt: 'Which colour?' },
    })
  }
  await workspace.write(response ?? '', '\0\0\0') // what a power failure leaves
  await expect(resume()).rejects.toThrow('response.txt is not UTF-8 text.')
  await workspace.write(response ?? '', 'x'.repeat(2 ** 20 + 1))
  await expect(resume()).rejects.toThrow('response.txt is longer than 1 MiB.')
  await workspace.write(response ?? '', 'blue\n')
  const answered = await resume()
  expect(answered).toMatchObject({ status: 'COMPLETED', answer: 'It is blue.' })
  expect(await eventsOfType(answered, 'HUMAN_INPUT_REQUEST')).toHaveLength(1)
  expect(await readdir(runDirectory)).not.toContain('interaction')
})

test('a link in the place of response.txt or of its directory is not followed', async () => {
  const { run, resume, workspace } = await scene({ turns: TURNS }, { 'outside/secret': 'SECRET\n' })
  const { runId, runDirectory } = await run()
  const response = join(runDirectory, 'interaction/response.txt')
  await rm(response)
  await symlink(join(workspace.path, 'outside/secret'), response)
  await expect(resume()).rejects.toMatchObject({
    code: 'ERR_ENGINE_NO_ANSWER',
    message: `${response} is not a regular file.\nWrite the answer into a file of that name, or give it as a message.`,
  })
  await rename(join(runDirectory, 'interaction'), join(workspace.path, 'outside/interaction'))
  await symlink(join(workspace.path, 'outside/interaction'), join(runDirectory, 'interaction'))
  await rm(join(workspace.path, 'outside/interaction/response.txt'))
  await workspace.write('outside/interaction/response.txt', 'red\n')
  expect(await resume()).toMatchObject({ status: 'WAITING_FOR_INPUT', runId })
  expect(await workspace.read('outside/interaction/response.txt')).toBe('red\n')
  expect(await readFile(response, 'utf8')).toBe('')
})

test('calls after a question are not started before its answer', async () => {
  const { run, resume, workspace } = await scene({
    turns: [{ tool_calls: [ASK, { name: 'deploy', arguments: {} }] }, { content: 'Deployed.' }],
    tools: [{ name: 'deploy', shell: 'touch deployed' }],
    agent: { tool_concurrency: 4 },
  })
  await run()
  expect(await workspace.has('deployed')).toBe(false)
  expect(await resume({ message: 'go on' })).toMatchObject({ status: 'COMPLETED' })
  expect(await workspace.has('deployed')).toBe(true)
})

test('a call that names a password from before the run failed is rejected, and the model reads why', async () => {
  const { run, resume, workspace } = await scene({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Password?', input_type: 'password' } }] },
      { tool_calls: [{ name: 'use', arguments: { value: '«secret:turn-1-1»' } }] },
      { content: '{{last_observation}}' },
    ],
    tools: [{ name: 'use', shell: 'printf %s ${value} > used.txt' }],
  })
  const failed = await run({ ask: async () => 'correct horse', maxIterations: 1 })
  expect(failed.status).toBe('FAILED')
  const result = await resume({ message: 'Go on' })
  expect(result.answer).toMatch(/^BLOCKED: what «secret:turn-1-1» stood for has been erased\./)
  expect(await workspace.has('used.txt')).toBe(false)
})

test('a password in response.txt whose engine was killed as it read it is in no file once the run has ended', async () => {
  const secret = 'correct horse battery'
  const ask = { name: 'ask_human', arguments: { prompt: 'Password?', input_type: 'password' } }
  const { run, resume, workspace, start } = await scene({
    turns: [{ tool_calls: [ask] }, { content: 'Thanks.' }],
  })
  const { runDirectory } = await run()
  await writeFile(join(runDirectory, 'interaction', 'response.txt'), secret)
  await start(2).result // ENGINE_START, HUMAN_INPUT_RECEIVED
  expect(await readFile(join(runDirectory, 'journal.jsonl'), 'utf8')).toMatch(/"HUMAN_INPUT_RECEIVED".*\n$/)

  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'Thanks.' })
  for (const file of await workspace.files()) expect(await workspace.read(file), file).not.toContain(secret)
})

test('a broken question is an observation, not a crash', async () => {
  const { run } = await scene({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: 'not json' }] },
      { content: '{{last_observation}}' },
    ],
  })
  expect((await run()).answer).toContain('ask_human needs a "prompt"')
})

test('a run that is stopped while a person is asked is INTERRUPTED, and asks again when it continues', async () => {
  const { run, resume } = await scene({ turns: TURNS })
  const stop = new AbortController()
  const result = await run({
    signal: stop.signal,
    ask: () => {
      stop.abort('SIGINT')
      return new Promise(() => {}) // nobody answers any more
    },
  })
  expect(result).toMatchObject({ status: 'INTERRUPTED', reason: 'SIGINT' })
  expect(await resume({ ask: async () => 'green' })).toMatchObject({ answer: 'It is green.' })
  expect(await eventsOfType(result, 'HUMAN_INPUT_REQUEST')).toHaveLength(1)
})

test('a question with its answer in the journal is not asked again, even if a crash tore off its result', async () => {
  const { run, resume, workspace } = await scene({ turns: TURNS })
  const { runId, question, runDirectory } = await run()
  const journal = join(runDirectory, 'journal.jsonl')
  const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n')
  const asked = JSON.parse(lines.find((line) => line.includes('HUMAN_INPUT_REQUEST')) ?? '')
  const received = {
    ...asked,
    type: 'HUMAN_INPUT_RECEIVED',
    response: 'red',
    request_id: question?.requestId,
  }
  await workspace.write(
    `.delta/${runId}/journal.jsonl`,
    `${[...lines, JSON.stringify({ ...received, seq: lines.length + 1 })].join('\n')}\n{"seq":${lines.length + 2},"type":"ACTION_RES`,
  )
  const result = await resume()
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'It is red.' })
  expect(await eventsOfType(result, 'HUMAN_INPUT_RECEIVED')).toHaveLength(1)
})

test('an old answer that a crash left does not answer the next question', async () => {
  const again = { name: 'ask_human', arguments: { prompt: 'Which size?' } }
  const { run, resume, workspace } = await scene({
    turns: [{ tool_calls: [ASK] }, { tool_calls: [again] }, { content: '{{last_observation}}' }],
  })
  const { runId } = await run()
  const old = await workspace.read(`.delta/${runId}/interaction/request.json`)
  await resume({ message: 'green' })
  await workspace.write(`.delta/${runId}/interaction/request.json`, old)
  await workspace.write(`.delta/${runId}/interaction/response.txt`, 'green\n')
  expect(await resume()).toMatchObject({ status: 'WAITING_FOR_INPUT', question: { prompt: 'Which size?' } })
})

test.each([
  ...['y', 'Yes', 'YES.', ' no', 'N', 'no: it is too late', 'yes\nand again'].map(
    (word) => [word, true] as const,
  ),
  ...['maybe', 'n/a', 'yesterday', 'not now', ' '].map((word) => [word, false] as const),
])('%j answers a confirmation: %s', (word, isAnswer) => {
  expect(isAnswerTo({ inputType: 'confirmation' }, word)).toBe(isAnswer)
})

test('if the clock stands still, the next engine continues, and no record replaces an earlier one', async () => {
  const { agentFiles, workspace } = await scene({
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }, ASK] }, calls('work'), { content: 'Done.' }],
    tools: [{ name: 'work', exec: 'echo worked' }],
    files: hooks({ on_iteration_start: 'true', post_tool_execution: 'true' }),
  })
  const clock = 'Date = class extends Date { constructor(time = 0) { super(time) } }'
  const argv = ['--import', `data:text/javascript,${clock}`, PROGRAM, agentFiles.path, workspace.path]
  const first = await startProcess([process.execPath, ...argv]).result
  expect(first.stdout, first.stderr).toContain('WAITING_FOR_INPUT')
  const { directory } = await findRun(workspace.path)
  await writeFile(join(directory, 'interaction', 'response.txt'), 'green')
  const second = await startProcess([process.execPath, ...argv]).result
  expect(second.stdout, second.stderr).toContain('COMPLETED')
  expect(await readdir(join(directory, 'io', 'tool_executions'))).toHaveLength(2)
})
