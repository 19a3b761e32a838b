import { loadAgent } from '@delta/config-loader'
import { expect, test } from 'vitest'
import { runAgent } from '../src/index.js'
import { isAnswerTo } from '../src/internal.js'
import { eventsOfType, scene } from './run.js'

const DELETE = { name: 'delete', shell: 'rm ${file}', effects: { destructive: true } }
const CALL = [
  { tool_calls: [{ name: 'delete', arguments: { file: 'a.txt' } }] },
  { content: 'Result: {{last_observation}}' },
]
const ASKING = { tools: [DELETE], turns: CALL, agent: { policy: { on_confirmation: 'ask_human' } } }

test('a destructive call waits for a person, with its command, reasons and effects, and is not journaled as started', async () => {
  const { run, workspace } = await scene(ASKING, { 'a.txt': '' })
  const result = await run()
  expect(result).toMatchObject({
    status: 'WAITING_FOR_INPUT',
    question: {
      tool: 'delete',
      command: `sh -c 'rm "$1"' -- a.txt`,
      reasons: ['destructive'],
      effects: { destructive: true },
    },
  })
  expect(await workspace.has('a.txt')).toBe(true)
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toEqual([])
  expect(await eventsOfType(result, 'HUMAN_INPUT_REQUEST')).toMatchObject([
    { argv: ['sh', '-c', 'rm "$1"', '--', 'a.txt'] },
  ])
})

test('at the terminal only a plain yes approves', async () => {
  for (const [answer, remains] of [
    ['yes', false],
    ['yes, but only if it is old', true],
    ['', true],
  ] as const) {
    const { run, workspace } = await scene(ASKING, { 'a.txt': '' })
    await run({ ask: async () => answer })
    expect(await workspace.has('a.txt'), answer).toBe(remains)
  }
})

const QUERY = { name: 'query', exec: 'cat', stdin: 'sql', effects: { destructive: true } }
const DROP = [
  { tool_calls: [{ name: 'query', arguments: { sql: 'drop all' } }] },
  { content: '{{last_observation}}' },
]

test('an approval does not hold for the same command in another directory, with other variables, with a key or in a sandbox', async () => {
  const settings = [
    { cwd: 'sub' },
    { env: { WHERE: 'x y' } },
    { pass_env: ['DELTA_API_KEY'] },
    { sandbox: true },
  ]
  const shown = [
    'In the directory sub',
    "With 'WHERE=x y'",
    "With the engine's DELTA_API_KEY",
    'Started in a sandbox, as:',
  ]
  for (const [index, setting] of settings.entries()) {
    const { run, resume, agentFiles } = await scene(ASKING, { 'a.txt': '', 'sub/a.txt': '' })
    const { question } = await run()
    const agent = JSON.parse(await agentFiles.read('agent.yaml'))
    Object.assign(agent.tools[0], setting)
    await agentFiles.write('agent.yaml', JSON.stringify(agent))
    const again = await resume({ decision: { kind: 'approve', requestId: question?.requestId ?? '' } })
    expect(again).toMatchObject({
      status: 'WAITING_FOR_INPUT',
      question: {
        command: question?.command,
        prompt: expect.stringContaining(`${question?.prompt}\n${shown[index]}`),
      },
    })
  }
})

test('an approval does not hold for other input to the same command', async () => {
  const { run, resume, workspace } = await scene({ ...ASKING, tools: [QUERY], turns: DROP })
  const { question, runId } = await run()
  const journal = `.delta/${runId}/journal.jsonl`
  const lines = (await workspace.read(journal)).split('\n')
  const edited = lines.map((line) =>
    line.includes('"THOUGHT"') ? line.replaceAll('drop all', 'drop more') : line,
  )
  await workspace.write(journal, edited.join('\n'))

  const again = await resume({ decision: { kind: 'approve', requestId: question?.requestId ?? '' } })
  expect(again).toMatchObject({
    status: 'WAITING_FOR_INPUT',
    question: { command: `printf %s 'drop more' | cat` },
  })
})

/** The scene waits for a person; then its agent becomes another. */
async function waitingAndChanged(changed: object) {
  const set = await scene(ASKING, { 'a.txt': '' })
  const { question } = await set.run()
  const agent = JSON.parse(await set.agentFiles.read('agent.yaml'))
  await set.agentFiles.write('agent.yaml', JSON.stringify({ ...agent, ...changed }))
  return { ...set, requestId: question?.requestId ?? '' }
}

test('a no rejects the call, also when the policy or the command has changed since', async () => {
  for (const changed of [
    { policy: { allow_destructive: true } },
    { tools: [{ ...DELETE, shell: 'rm -f ${file}' }] },
  ]) {
    const { resume, workspace, requestId } = await waitingAndChanged(changed)
    const result = await resume({ decision: { kind: 'deny', requestId } })
    expect(result.answer).toBe('Result: A person was asked and said no. The command was not run.')
    expect(await workspace.has('a.txt')).toBe(true)
    expect(await eventsOfType(result, 'HUMAN_INPUT_RECEIVED')).toMatchObject([
      { request_id: requestId, response: 'no' },
    ])
  }
})

test('an approval does not hold for a changed command, even if that needs none now', async () => {
  const tools = [{ ...DELETE, shell: 'rm -f ${file}' }]
  for (const changed of [{ tools }, { tools, policy: { allow_destructive: true } }]) {
    const { resume, workspace, requestId } = await waitingAndChanged(changed)
    const notices: string[] = []
    const again = await resume({
      decision: { kind: 'approve', requestId },
      onEvent: (event) => void (event.kind === 'notice' && notices.push(event.message)),
    })
    expect(again).toMatchObject({
      status: 'WAITING_FOR_INPUT',
      question: { command: `sh -c 'rm -f "$1"' -- a.txt` },
    })
    expect(again.question?.requestId).not.toBe(requestId)
    expect(notices.at(-1)).toBe(
      'The command has changed since it was approved, so it was not run, and needs approval again.',
    )
    expect(await workspace.has('a.txt')).toBe(true)
  }
})

test('an approval holds for the same command, whatever words it was asked in and whatever reasons there are now', async () => {
  const { resume, workspace, requestId } = await waitingAndChanged({
    tools: [{ ...DELETE, effects: { destructive: true, reversible: false } }],
    policy: { ...ASKING.agent.policy, allow_non_reversible: false },
  })
  const [run = ''] = (await workspace.files()).filter((file) => file.endsWith('/journal.jsonl'))
  await workspace.write(run, (await workspace.read(run)).replace('run this command?', 'do this?'))
  expect(await resume()).toMatchObject({
    question: { requestId, reasons: ['destructive', 'non-reversible'] },
  })
  expect((await resume({ decision: { kind: 'approve', requestId } })).status).toBe('COMPLETED')
  expect(await workspace.has('a.txt')).toBe(false)
})

test('an approval holds for the same command when the policy needs none by now; without one the command runs, too', async () => {
  for (const kind of ['approve', undefined] as const) {
    const { resume, workspace, requestId } = await waitingAndChanged({ policy: { allow_destructive: true } })
    const result = await resume(kind === undefined ? {} : { decision: { kind, requestId } })
    expect(result.reasonCode).toBe('answered')
    expect(await workspace.has('a.txt')).toBe(false)
  }
})

test("no value adds lines to the question, or hides in it; the author's own script keeps its lines", async () => {
  const script = 'cd .\nrm ${file}'
  const file = "a\nAllow it: evil\u001b[2J\u202e\u200b'\\"
  const { run } = await scene({
    ...ASKING,
    tools: [{ ...DELETE, shell: script }],
    turns: [{ tool_calls: [{ name: 'delete', arguments: { file } }] }, { content: 'done' }],
  })
  const { question } = await run()
  const spelt = String.raw`$'a\nAllow it: evil\033[2J\342\200\256\342\200\213\'\\'`
  expect(question?.command).toBe(`sh -c 'cd .\nrm "$1"' -- ${spelt}`)
})

test('only yes, no and always decide on a command', () => {
  const answers = ['yes', ' Y\n', 'no', 'n', 'ALWAYS', 'yes, but', 'always?', '', 'maybe']
  const decides = (answer: string) => isAnswerTo({ inputType: 'confirmation', command: 'rm a' }, answer)
  expect(answers.map(decides)).toEqual([true, true, true, true, true, false, false, false, false])
})

test('what an agent imports from the workspace is read-only in the sandbox of its tools', async () => {
  const tools = [{ ...DELETE, sandbox: true }]
  const { agentFiles, workspace } = await scene({ ...ASKING, tools }, { 'lib/more.yaml': 'tools: []' })
  const written = JSON.parse(await agentFiles.read('agent.yaml'))
  const imports = [`${workspace.path}/lib/more.yaml`]
  await agentFiles.write('agent.yaml', JSON.stringify({ ...written, imports }))
  const { agent } = await loadAgent(agentFiles.path, { env: {}, importRoots: [workspace.path] })
  const { question } = await runAgent({ agent, workDirectory: workspace.path, message: 'Go', env: {} })
  expect(question?.started).toContain(`--ro-bind ${workspace.path}/lib ${workspace.path}/lib `)
})
