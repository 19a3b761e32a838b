import { cp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf } from './delta.js'

const KIT = `tools:
  - name: greet
    description: Greets somebody.
    exec: node \${TOOL_HOME}/greet.mjs \${name}
    parameters: [{ name: name, description: Whom. }]
`

/** A directory with an installed package of tools, an agent that imports it, an evaluation of that, and a workspace. */
async function project() {
  const files = {
    'project/node_modules/kit/package.json': '{"name":"kit","version":"1.0.0"}',
    'project/node_modules/kit/lib/kit.yaml': KIT,
    'project/node_modules/kit/lib/greet.mjs':
      'console.log(`Hello, ${process.argv[2]}: ${import.meta.filename}`)\n',
    'project/site/x': '',
    'project/eval.yaml':
      'name: kit\ntasks: tasks/\nvariants: { bot: { agent: ./bot } }\nscore: { command: sh check.sh }\n',
    'project/tasks/one/instruction.md': 'Greet Ada.\n',
    'project/tasks/one/tests/check.sh': 'exit 0\n',
  }
  const { path } = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const home = join(path, 'project')
  const agent = await temporaryAgent({
    turns: [calls('greet', { name: 'Ada' }), { content: 'Done.' }],
    agent: { imports: ['npm:kit/lib/kit.yaml'] },
    onCleanup: onTestFinished,
  })
  await cp(agent.path, join(home, 'bot'), { recursive: true })
  const at = { cwd: home, env: { DELTA_STATE_DIR: join(path, 'state') } }
  return { home, run: (...words: string[]) => delta(words, at) }
}

test('tools of a package find their scripts in a run, a fork and an evaluation, and a replay the record of a package that has moved', async () => {
  const { home, run } = await project()
  const script = join(home, 'node_modules/kit/lib/greet.mjs')
  const succeeds = async (...words: string[]) => expect(await run(...words)).toMatchObject({ exitCode: 0 })
  await succeeds('run', '--agent', 'bot', '-w', 'site', '-m', 'Go', '-q')
  const events = (await journalOf(join(home, 'site'))) as unknown as Record<string, unknown>[]
  const of = (type: string) => events.find((event) => event.type === type)
  expect(of('ACTION_RESULT')).toMatchObject({ observation_content: `Hello, Ada: ${script}\n` })
  expect(of('ENGINE_START')).toMatchObject({
    tool_homes: { greet: join(home, 'node_modules/kit/lib') },
    config: { tools: [{ command: ['node', script] }] },
  })

  expect((await run('tool', 'expand', 'bot', '--json')).stdout).toContain('"${TOOL_HOME}/greet.mjs"')
  expect(await run('tool', 'lint', 'bot')).toMatchObject({ exitCode: 0, stderr: '1 tool, 0 findings\n' })
  await succeeds('fork', 'site', '--at', '0', '--into', 'fork', '--without-files', '-q')
  expect((await run('show', '-w', 'fork')).stdout).toContain(`Hello, Ada: ${script}`)
  await succeeds('eval', 'run', '-q')
  expect((await run('show', 'kit.eval/bot/one/1')).stdout).toContain(`Hello, Ada: ${script}`)

  await rename(join(home, 'node_modules'), join(home, '../node_modules'))
  expect(await run('replay', 'site')).toMatchObject({
    exitCode: 0,
    stdout: 'same: 2 requests, 1 call, the answer\n',
  })
})
