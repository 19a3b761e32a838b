import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { loadAgent } from '../packages/config-loader/dist/index.js'
import { startScriptedServer } from '../packages/testkit/dist/index.js'
import { changedExample, delta, resultsOf, runExample, workspaceOf } from './run-example.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const SCRIPTED_MODEL = /^llm:\n {2}provider: script\n {2}script: script\.yaml\n/m

/** Examples whose every answer is in a script; `npm run test:real` takes all of them, else each fourth. Not those that need a repository or stop on purpose: their own tests do more. */
const LEFT_OUT = [
  '2-core-features/atip-git',
  '2-core-features/budget-guard',
  '2-core-features/memory-folding',
  '3-advanced/code-reviewer',
]
const scripted = readdirSync(HERE)
  .filter((chapter) => /^\d-/.test(chapter))
  .flatMap((chapter) => readdirSync(join(HERE, chapter)).map((name) => `${chapter}/${name}`))
  .filter((example) => existsSync(join(HERE, example, 'script.yaml')))
  .filter((example) => !LEFT_OUT.includes(example))
  .filter((_, index) => process.env.DELTA_TESTS === 'real' || index % 4 === 0)

test.each(scripted)('%s does the same with a model that is a server', async (example) => {
  const { agent } = await loadAgent(join(HERE, example), { env: {} })
  const server = await startScriptedServer(agent.script ?? [])
  onTestFinished(() => server.close())
  const realModel = await changedExample(example, (yaml) => {
    const line = /^#\s+(llm: \{ model: .* \})$/m.exec(yaml)?.[1]
    expect(line, 'the line for a real model, in a comment').toBeDefined()
    return yaml.replace(SCRIPTED_MODEL, `${line}\n`)
  })

  const [offline, online] = [await workspaceOf(example), await workspaceOf(example)]
  const args = ['run', '--agent', realModel, '-w', online.path, '-m', 'Go.', '--new', '--no-sync']
  const environment = { DELTA_API_KEY: 'test-key-not-real', DELTA_BASE_URL: server.baseUrl }
  const [expected, { exitCode, stdout }] = await Promise.all([
    runExample(example, offline, 'Go.'),
    delta(args, environment),
  ])

  // The server hands an observation on with its final newline, a script does without.
  const words = (text: string) => text.replace(/\s/g, '')
  expect(exitCode).toBe(expected.exitCode)
  expect(words(stdout)).toBe(words(expected.stdout))
  const statuses = async (workspace: typeof online) =>
    (await resultsOf(workspace)).map(([tool, status]) => `${tool} ${status}`).sort()
  expect(await statuses(online)).toEqual(await statuses(offline))
  const made = async (workspace: typeof online) =>
    (await workspace.files()).filter((path) => !/(^|\/)\.(delta|sessions)\//.test(path))
  expect(await made(online)).toEqual(await made(offline))
  expect(server.requests().filter(({ problem }) => problem)).toEqual([])
})
