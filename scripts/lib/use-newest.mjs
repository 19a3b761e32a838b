import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startProcess, waitForFile } from '../../packages/testkit/dist/index.js'
import { root } from './environment.mjs'
import { inside, install } from './install.mjs'
import { packedWithDependencies, runOrThrow } from './pack.mjs'
import { capture } from './step.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

const NEWEST = [
  'ai',
  '@ai-sdk/openai-compatible',
  '@anthropic-ai/sdk',
  '@openai/agents',
  'openai',
  '@langchain/core',
  '@langchain/openai',
  '@modelcontextprotocol/sdk',
  '@deepseek-ai/cordis',
  '@deepseek-ai/dsh-tools', // its other parts come as its peers: the newest of each need not go together
].map((name) => `${name}@latest`)

/** Models of the newest specification, under the name by which the tests know them beside those of the one before. */
const NEWEST_MODELS = '@ai-sdk/openai-compatible-4@npm:@ai-sdk/openai-compatible@latest'

/** Whose tests are run; the rest of what they import is what npm would install. */
const ADAPTERS = ['packages/tool-adapters', 'packages/model']

/** What the tests need besides, from this repository. */
const TEST_TOOLS = ['vitest', 'fast-check', 'typescript', '@pydantic/genai-prices']

/**
 * The newest of each framework is within our peer ranges, fits our types, and passes the adapters' tests, under the Node.js
 * that they ask for.
 *
 * @param {string} directory
 * @param {Packed[]} packages
 */
export async function useNewestFrameworks(directory, packages) {
  const ours = packedWithDependencies(['@delta/tool-adapters', '@delta/model'], packages)
  await install(directory, ours, [
    ...NEWEST,
    NEWEST_MODELS,
    'node@24',
    '@types/node@24',
    '@types/json-schema',
  ])
  const node = join(directory, 'node_modules', '.bin', 'node')
  const version = (await runOrThrow([node, '--version'], inside(directory))).trim()

  for (const folder of ADAPTERS) {
    for (const part of ['src', 'dist', 'test', 'package.json'])
      cpSync(join(root, folder, part), join(directory, folder, part), { recursive: true })
    rmSync(join(directory, folder, 'src/tsconfig.json')) // it refers to packages that are not here
    writeFileSync(
      join(directory, folder, 'tsconfig.json'),
      '{ "extends": "../../tsconfig.base.json", "include": ["src", "test"] }',
    )
  }
  for (const name of ['tsconfig.base.json', 'vitest.config.ts', 'scripts'])
    symlinkSync(join(root, name), join(directory, name))
  for (const name of TEST_TOOLS) linkPackage(directory, name, join(root, 'node_modules', name))
  linkPackage(directory, '@delta/testkit', join(root, 'packages/testkit'))

  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  await runOrThrow([node, vitest, 'run', '--root', directory, 'packages/'], inside(directory))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  for (const folder of ADAPTERS)
    await runOrThrow([node, tsc, '--noEmit', '-p', join(directory, folder)], inside(directory))
  console.log(`The adapters pass their tests with ${NEWEST.join(', ')} under Node.js ${version}.`)
}

/**
 * @param {string} directory
 * @param {string} name
 * @param {string} target
 */
function linkPackage(directory, name, target) {
  const link = join(directory, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true }) // its scope
  symlinkSync(target, link)
}

/** Other programs that run JavaScript, by their packages. */
const RUNTIMES = { bun: ['bun'], deno: ['deno', 'run', '--allow-all'] }

const AGENT = {
  'agent.yaml': `name: runtime
llm: { provider: script, script: script.yaml }
tools:
  - { name: wait, shell: 'echo started > started; sleep 600' }
  - { name: print, exec: 'printf %s \${text}' }
`,
  'context.yaml': 'sources: [{ type: journal, id: conversation }]\n',
  'script.yaml': `- tool_calls: [{ name: wait, arguments: {} }]
- tool_calls: [{ name: print, arguments: { text: Going on } }]
- content: "{{last_observation}}"
`,
}

/**
 * The command line under Bun and under Deno: a run that is killed in the middle of a tool call goes on.
 *
 * @param {string} directory
 * @param {Packed[]} packages
 */
export async function useOtherRuntimes(directory, packages) {
  await install(directory, packedWithDependencies(['@delta/cli'], packages))
  mkdirSync(join(directory, 'agent'))
  for (const [name, text] of Object.entries(AGENT)) writeFileSync(join(directory, 'agent', name), text)
  for (const [name, command] of Object.entries(RUNTIMES)) {
    const { code, output } = await capture(['npm', 'install', name], inside(directory))
    if (code === 0) await killAndGoOn(directory, name, command)
    else console.log(`SKIPPED: npm cannot install ${name} here, so nothing was run under it.\n${output}`)
  }
}

/**
 * @param {string} directory
 * @param {string} name
 * @param {string[]} command
 */
async function killAndGoOn(directory, name, [program = '', ...words]) {
  const delta = join('node_modules', '@delta', 'cli', 'bin.cjs')
  const start = [join(directory, 'node_modules', '.bin', program), ...words, delta]
  mkdirSync(join(directory, name))
  const running = startProcess(
    [...start, 'run', '--agent', 'agent', '-w', name, '-m', 'Go'],
    inside(directory),
  )
  const ended = running.result.then(({ stdout, stderr }) => {
    throw new Error(`Under ${name}, delta run ended:\n${stdout}${stderr}`)
  })
  await Promise.race([waitForFile(join(directory, name, 'started'), 'started'), ended])
  running.kill('SIGKILL')
  await running.result
  ended.catch(() => undefined) // as it was meant to

  const answer = await runOrThrow([...start, 'continue', '-w', name, '-q'], inside(directory))
  if (answer.trim() !== 'Going on') throw new Error(`Under ${name}, delta continue prints ${answer}`)
  console.log(`A run that was killed goes on under ${name}.`)
}
