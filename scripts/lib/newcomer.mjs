import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startScriptedServer } from '../../packages/testkit/dist/index.js'
import { runBlocks } from '../readme.mjs'
import { root } from './environment.mjs'
import { inside, install } from './install.mjs'
import { packedAs, packedWithDependencies, runOrThrow } from './pack.mjs'
import { copyExamples } from './scratch.mjs'
import { openShell } from './shell-block.mjs'

/**
 * What somebody does who has the documents and the published packages, and nothing else: no step that is not written down.
 *
 * @typedef {import('./pack.mjs').Packed} Packed
 */

/**
 * The README of the adapters: its `npm install`, its program, its command.
 *
 * @param {string} directory
 * @param {Packed[]} libraries
 */
export async function embedInAiSdk(directory, libraries) {
  const readme = readFileSync(
    join(packedAs('@delta/tool-adapters', libraries).directory, 'README.md'),
    'utf8',
  )
  const [, line = ''] = /^```sh\nnpm install (.* ai@.*)\n```$/m.exec(readme) ?? []
  const [, program = ''] = /^```js\n\/\/ ask\.mjs\n([\s\S]*?)^```$/m.exec(readme) ?? []
  const [, command = ''] = /^```sh\nOPENAI_API_KEY=… (.*)\n```$/m.exec(readme) ?? []
  const names = line.split(' ')
  const ours = names.filter((name) => name.startsWith('@delta/'))
  const others = names.filter((name) => !ours.includes(name))
  await install(directory, packedWithDependencies(ours, libraries), others)
  writeFileSync(join(directory, 'ask.mjs'), program)
  writeFileSync(join(directory, 'a.txt'), 'one two three\n')

  const call = { name: 'count_words', arguments: { file: 'a.txt' } }
  const server = await startScriptedServer([
    { tool_calls: [call] },
    { content: 'By wc: {{last_observation}}' },
  ])
  try {
    const options = inside(directory)
    const env = { ...options.env, OPENAI_API_KEY: 'test-key-not-real', OPENAI_BASE_URL: server.baseUrl }
    const printed = await runOrThrow(['sh', '-c', command], { ...options, env })
    if (printed.trim() !== 'By wc: 3 a.txt') throw new Error(`$ ${command}\nprints ${printed}`)
  } finally {
    await server.close()
  }
  console.log('The program in the README of @delta/tool-adapters runs.')
}

/** Asks a server, as an MCP client does, for its tools and for one call. */
const CLIENT = `import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
const { mcpServers } = JSON.parse(process.argv[2])
const client = new Client({ name: 'newcomer', version: '1.0.0' })
await client.connect(new StdioClientTransport({ ...mcpServers.papers, stderr: 'ignore' }))
const { tools } = await client.listTools()
const { content } = await client.callTool({ name: 'count_words', arguments: { file: 'a.txt' } })
console.log(tools.map(({ name }) => name).join(), content[0].text.trim())
await client.close()
`

/**
 * The guide to MCP: its tools, and its entry for a client, with the paths of this machine.
 *
 * @param {string} directory
 * @param {Packed} cli
 */
export async function serveMcp(directory, cli) {
  await install(directory, [cli])
  await follow('docs/how-to/mcp.md', directory)
  writeFileSync(join(directory, 'papers', 'a.txt'), 'one two three\n')

  const [entry = ''] = /(?<=^```json\n)\{[\s\S]*?(?=^```$)/m.exec(document('docs/how-to/mcp.md')) ?? []
  const settings = entry
    .replaceAll('/home/me', directory)
    .replace('"delta"', JSON.stringify(join(directory, 'node_modules', '.bin', 'delta')))
  const client = join(directory, 'client')
  await install(client, [], ['@modelcontextprotocol/sdk@1'])
  writeFileSync(join(client, 'client.mjs'), CLIENT)
  const printed = await runOrThrow([process.execPath, 'client.mjs', settings], inside(client))
  if (printed.trim() !== 'count_words,remove 3 a.txt') throw new Error(`The MCP client prints ${printed}`)
  console.log('An MCP client uses the tools of the guide.')
}

/**
 * The tutorial, in a directory where only the command line is installed.
 *
 * @param {string} directory
 * @param {Packed} cli
 */
export async function followTutorial(directory, cli) {
  await install(directory, [cli])
  await follow('docs/tutorial.md', directory)
  console.log('The tutorial works with the published command line.')
}

/** What stands on commands that the command line brings along for tools: `delta` and `delta-sessions` on their PATH. */
const WITH_OUR_COMMANDS = [
  'docs/how-to/sessions.md',
  'examples/2-core-features/interactive-shell/README.md',
  'examples/2-core-features/python-repl/README.md',
  'examples/3-advanced/sub-agents/README.md',
]

/**
 * Sessions and sub-agents, where only the command line is installed.
 *
 * @param {string} directory
 * @param {Packed} cli
 */
export async function useSessionsAndSubAgents(directory, cli) {
  await install(directory, [cli])
  copyExamples(join(directory, 'examples'))
  for (const path of WITH_OUR_COMMANDS) await follow(path, directory)
  console.log('Sessions and sub-agents work with the published command line alone.')
}

/**
 * @param {string} path of a document
 * @param {string} directory with the command line installed
 */
async function follow(path, directory) {
  const problems = await runBlocks(
    document(path),
    openShell(directory, join(directory, 'node_modules', '.bin')),
  )
  if (problems.length > 0) throw new Error(`${path}: ${problems.join('\n')}`)
}

/** @param {string} path */
function document(path) {
  return readFileSync(join(root, path), 'utf8')
}
