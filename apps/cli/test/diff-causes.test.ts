import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgent } from '@delta/config-loader'
import { continueRun, runAgent } from '@delta/engine'
import { temporaryWorkspace } from '@delta/testkit'
import { type Difference, diffRuns, openTrace, type RunDiff, type Trace } from '@delta/trace'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

/** The iterations that call tools; the next one answers, and a second message leads to one more answer. */
const CALLING = 3
const PATIENCE = 180_000

/** Every text of a scene, by name: all of them are lower-case words, so any byte can be another letter. */
type Texts = Record<string, string>

function textsOf(): Texts {
  const texts: Texts = {
    prompt: 'you read files and keep notes of them',
    message: 'please read all of it',
    further: 'now say it again',
    description: 'prints a file of the workspace',
    parameter: 'what it is good for',
    setting: 'plain',
    notes: 'nothing is known so far',
    'answer 4': 'that was all of it',
    'answer 5': 'it was the same again',
  }
  for (let n = 1; n <= CALLING; n++) {
    texts[`answer ${n}`] = `reading number ${'i'.repeat(n)}`
    texts[`label ${n}`] = `because of ${'i'.repeat(n)}`
    texts[`data ${n}`] = `contents of file ${'i'.repeat(n)}`
    texts[`hook ${n}`] = `replaced result ${'i'.repeat(n)}`
    texts[`notes ${n}`] = `known after step ${'i'.repeat(n)}`
  }
  return texts
}

/** What must be found for another byte in one of the texts. */
function expectedOf(name: string, byte: number): Partial<Difference> {
  const [kind, number] = name.split(' ')
  const step = Number(number ?? 1)
  const configuration = { cause: 'configuration', step: 1, at: 'request' } as const
  switch (kind) {
    case 'prompt':
      return { cause: 'context', step: 1, at: 'request', where: 'prompt', byte }
    case 'notes':
      // what a command wrote is in the request after it
      return {
        cause: 'context',
        step: number === undefined ? 1 : step + 1,
        at: 'request',
        where: 'notes',
        byte,
      }
    case 'message':
      return { cause: 'intervention', step: 1, at: 'said', where: 'USER_MESSAGE' }
    case 'further':
      return { cause: 'intervention', step: CALLING + 2, at: 'said', where: 'USER_MESSAGE' }
    case 'description':
      return { ...configuration, where: 'tools.read.description' }
    case 'parameter':
      return { ...configuration, where: 'tools.read.parameters.properties.label.description' }
    case 'setting':
      return { ...configuration, where: 'llm.user' }
    case 'answer':
      return { cause: 'model', step, at: 'answer', where: 'answer' }
    case 'label':
      return { cause: 'model', step, at: 'answer', where: 'call 1 of 3' }
    case 'data':
      return { cause: 'environment', step, at: 'result', where: 'read (call 1 of 3)' }
    case 'hook':
      return { cause: 'intervention', step, at: 'result', where: 'post_tool_execution' }
    default:
      throw new Error(`Nothing is expected of ${name}.`)
  }
}

/** Runs the agent with these texts, in a process that is this one. */
async function runWith(texts: Texts, place: string): Promise<Trace> {
  const [home, workDirectory] = [join(place, 'agent'), join(place, 'workspace')]
  for (const [name, text] of Object.entries(filesOf(texts))) {
    mkdirSync(join(place, name, '..'), { recursive: true })
    writeFileSync(join(place, name), text)
  }
  const env = { PATH: process.env.PATH ?? '', DELTA_STATE_DIR: join(place, 'state') }
  const { agent } = await loadAgent(home, { env })
  const common = { agent, workDirectory, env, sync: false } as const
  const first = await runAgent({ ...common, message: texts.message ?? '' })
  const second = await continueRun({
    ...common,
    trusted: true,
    runId: first.runId,
    message: texts.further ?? '',
  })
  expect([first.status, second.status]).toEqual(['COMPLETED', 'COMPLETED'])
  return openTrace(join(workDirectory, '.delta', first.runId))
}

function filesOf(texts: Texts): Record<string, string> {
  const steps = Array.from({ length: CALLING }, (_, index) => index + 1)
  const turns = steps.map((n) => ({
    content: texts[`answer ${n}`],
    tool_calls: [
      { name: 'read', arguments: { file: `data-${n}`, label: texts[`label ${n}`] } },
      { name: 'learn', arguments: { file: `notes-${n}` } },
      { name: 'ask', arguments: { file: `hook-${n}` } },
    ],
  }))
  const label = { name: 'label', description: texts.parameter }
  return {
    'agent/agent.yaml': JSON.stringify({
      name: 'reader',
      llm: { provider: 'script', script: 'script.json', user: texts.setting },
      tools: [
        {
          name: 'read',
          description: texts.description,
          exec: 'sh -c "exec cat $0" ${file} ${label}',
          parameters: [label],
        },
        { name: 'learn', exec: 'cp ${file} notes.md' },
        { name: 'ask', exec: 'echo ${file}' },
      ],
    }),
    'agent/context.yaml': JSON.stringify({
      sources: [
        { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' },
        { type: 'file', id: 'notes', path: '${CWD}/notes.md' },
        { type: 'journal', id: 'conversation' },
      ],
    }),
    'agent/hooks.yaml': JSON.stringify({ post_tool_execution: { command: ['sh', '${AGENT_HOME}/hook.sh'] } }),
    'agent/hook.sh':
      'read -r asked < "$DELTA_HOOK_IO_PATH/input/payload.dat"\ncase $asked in hook-*) cp "$asked" "$DELTA_HOOK_IO_PATH/output/payload_override.dat";; esac\n',
    'agent/script.json': JSON.stringify([
      ...turns,
      { content: texts['answer 4'] },
      { content: texts['answer 5'] },
    ]),
    'agent/prompt.md': texts.prompt ?? '',
    'workspace/notes.md': texts.notes ?? '',
    ...Object.fromEntries(
      steps.flatMap((n) =>
        ['data', 'notes', 'hook'].map((kind) => [`workspace/${kind}-${n}`, texts[`${kind} ${n}`] ?? '']),
      ),
    ),
  }
}

test(
  'one other byte, wherever it stands, is attributed to its cause and its iteration',
  async () => {
    const { path } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const texts = textsOf()
    const original = await runWith(texts, join(path, 'original'))
    const found = async (changed: Texts): Promise<RunDiff> => {
      const mutant = await runWith(changed, join(path, `mutant-${readdirSync(path).length}`))
      return diffRuns(original, mutant)
    }
    expect(await found(texts)).toMatchObject({ same: true, first: null, also: [] })

    const names = Object.keys(texts)
    const mutation = fc
      .constantFrom(...names)
      .chain((name) => fc.tuple(fc.constant(name), fc.nat((texts[name] ?? '').length - 1)))
    await fc.assert(
      fc.asyncProperty(mutation, async ([name, byte]) => {
        const text = texts[name] ?? ''
        const other = text[byte] === 'x' ? 'y' : 'x'
        const { same, first } = await found({
          ...texts,
          [name]: text.slice(0, byte) + other + text.slice(byte + 1),
        })
        expect({ same, first }).toMatchObject({ same: false, first: expectedOf(name, byte) })
      }),
      { numRuns: 30 },
    )
  },
  PATIENCE,
)
