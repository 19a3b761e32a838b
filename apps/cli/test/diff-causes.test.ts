import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAgent } from '@delta/config-loader'
import { continueRun, runAgent } from '@delta/engine'
import { temporaryWorkspace } from '@delta/testkit'
import { type Difference, diffRuns, openTrace, type RunDiff, type Trace } from '@delta/trace'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

/** The iterations that call tools; the next one answers, and a second message leads to one more answer. */
const CALLING = 2
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
    place: 'is where all of it lies',
    notes: 'nothing is known so far',
    sent: 'what a hook adds to each request',
    answered: 'what a hook adds to an answer',
    [`answer ${CALLING + 1}`]: 'that was all of it',
    [`answer ${CALLING + 2}`]: 'it was the same again',
  }
  for (let n = 1; n <= CALLING; n++) {
    texts[`answer ${n}`] = `reading number ${'i'.repeat(n)}`
    texts[`label ${n}`] = `because of ${'i'.repeat(n)}`
    texts[`data ${n}`] = `contents of file ${'i'.repeat(n)}`
    texts[`hook ${n}`] = `replaced result ${'i'.repeat(n)}`
    texts[`guard ${n}`] = `not allowed for ${'i'.repeat(n)}`
    texts[`notes ${n}`] = `known after step ${'i'.repeat(n)}`
  }
  return texts
}

/** What must be found for another byte in one of the texts. */
function expectedOf(name: string, byte: number, workDirectory: string): Partial<Difference> {
  const [kind, number] = name.split(' ')
  const step = Number(number ?? 1)
  const configuration = { cause: 'configuration', step: 1, at: 'request' } as const
  switch (kind) {
    case 'prompt':
      return { cause: 'context', step: 1, at: 'request', where: 'prompt', byte }
    case 'place':
      // the path counts as the original has it, although it is another one in each run
      return {
        cause: 'context',
        step: 1,
        at: 'request',
        where: 'place',
        byte: Buffer.byteLength(`${workDirectory} `) + byte,
      }
    case 'sent':
      return { cause: 'intervention', step: 1, at: 'request', where: 'pre_llm_request' }
    case 'answered':
      return { cause: 'intervention', step: CALLING + 1, at: 'answer', where: 'post_llm_response' }
    case 'guard':
      return { cause: 'intervention', step, at: 'call', where: 'pre_tool_execution' }
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
      return { cause: 'model', step, at: 'answer', where: 'call 1 of 4' }
    case 'data':
      return { cause: 'environment', step, at: 'result', where: 'read (call 1 of 4)' }
    case 'hook':
      return { cause: 'intervention', step, at: 'result', where: 'post_tool_execution' }
    default:
      throw new Error(`Nothing is expected of ${name}.`)
  }
}

/** Runs the agent with these texts, in a process that is this one. */
async function runWith(texts: Texts, place: string, isRewriting: boolean): Promise<Trace> {
  const [home, workDirectory] = [join(place, 'agent'), join(place, 'workspace')]
  for (const [name, text] of Object.entries(filesOf(texts, isRewriting))) {
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

const [INPUT, OUTPUT] = ['"$DELTA_HOOK_IO_PATH/input/', '"$DELTA_HOOK_IO_PATH/output/']

const HOOKS = {
  pre_llm_request: `sed 's/^  "messages": \\[$/&{"role":"system","content":"'"$(cat sent)"'"},/' ${INPUT}proposed_payload.json" > ${OUTPUT}final_payload.json"
`,
  post_llm_response: `grep -q '"iteration": ${CALLING + 1},' ${INPUT}context.json" || exit 0
sed 's/"content": "/&'"$(cat answered)"' /' ${INPUT}payload.dat" > ${OUTPUT}payload_override.dat"
`,
  pre_tool_execution: `file=$(grep -o 'guard-[0-9]' ${INPUT}payload.dat" | head -n 1)
[ -z "$file" ] || echo '{"action":"skip","observation":"'"$(cat "$file")"'"}' > ${OUTPUT}control.json"
`,
  post_tool_execution: `read -r asked < ${INPUT}payload.dat"
case $asked in hook-*) cp "$asked" ${OUTPUT}payload_override.dat";; esac
`,
}

function filesOf(texts: Texts, isRewriting: boolean): Record<string, string> {
  const steps = Array.from({ length: CALLING }, (_, index) => index + 1)
  const turns = steps.map((n) => ({
    content: texts[`answer ${n}`],
    tool_calls: [
      { name: 'read', arguments: { file: `data-${n}`, label: texts[`label ${n}`] } },
      { name: 'learn', arguments: { file: `notes-${n}` } },
      { name: 'ask', arguments: { file: `hook-${n}` } },
      { name: 'guarded', arguments: { file: `guard-${n}` } },
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
        { name: 'guarded', exec: 'rm ${file}' },
      ],
    }),
    'agent/context.yaml': JSON.stringify({
      sources: [
        { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' },
        { type: 'text', id: 'place', text: `${'${CWD}'} ${texts.place}` },
        { type: 'file', id: 'notes', path: '${CWD}/notes.md' },
        { type: 'journal', id: 'conversation' },
      ],
    }),
    'agent/hooks.yaml': JSON.stringify(
      Object.fromEntries(
        ['pre_llm_request', 'post_llm_response', 'pre_tool_execution', 'post_tool_execution']
          .filter((name) => isRewriting || name !== 'pre_llm_request')
          .map((name) => [name, { command: ['sh', `\${AGENT_HOME}/${name}.sh`] }]),
      ),
    ),
    ...Object.fromEntries(Object.entries(HOOKS).map(([name, script]) => [`agent/${name}.sh`, script])),
    'workspace/sent': texts.sent ?? '',
    'workspace/answered': texts.answered ?? '',
    'agent/script.json': JSON.stringify([
      ...turns,
      { content: texts[`answer ${CALLING + 1}`] },
      { content: texts[`answer ${CALLING + 2}`] },
    ]),
    'agent/prompt.md': texts.prompt ?? '',
    'workspace/notes.md': texts.notes ?? '',
    ...Object.fromEntries(
      steps.flatMap((n) =>
        ['data', 'notes', 'hook', 'guard'].map((kind) => [
          `workspace/${kind}-${n}`,
          texts[`${kind} ${n}`] ?? '',
        ]),
      ),
    ),
  }
}

test.each([false, true])(
  'one other byte, wherever it stands, is attributed to its cause and its iteration; with a hook that rewrites each request: %j',
  async (isRewriting) => {
    const { path } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const texts = textsOf()
    const original = await runWith(texts, join(path, 'original'), isRewriting)
    const found = async (changed: Texts): Promise<RunDiff> => {
      const mutant = await runWith(changed, join(path, `mutant-${readdirSync(path).length}`), isRewriting)
      return diffRuns(original, mutant)
    }
    expect(await found(texts)).toMatchObject({ same: true, first: null, also: [] })

    // each text once, at any of its bytes
    const names = Object.keys(texts).filter((name) => (isRewriting ? !name.endsWith(' 2') : name !== 'sent'))
    const bytes = fc.tuple(...names.map((name) => fc.nat((texts[name] ?? '').length - 1)))
    await fc.assert(
      fc.asyncProperty(bytes, async (places) => {
        for (const [index, name] of names.entries()) {
          const [text, byte] = [texts[name] ?? '', places[index] ?? 0]
          const other = text[byte] === 'x' ? 'y' : 'x'
          const { same, first } = await found({
            ...texts,
            [name]: text.slice(0, byte) + other + text.slice(byte + 1),
          })
          expect({ name, same, first }).toMatchObject({
            name,
            same: false,
            first: expectedOf(name, byte, join(path, 'original/workspace')),
          })
        }
      }),
      { numRuns: 1, endOnFailure: true },
    )
  },
  PATIENCE,
)
