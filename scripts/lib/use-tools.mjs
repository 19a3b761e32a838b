import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inside, install } from './install.mjs'
import { runOrThrow } from './pack.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

const READ = `echo '{"path": "node_modules/@delta/tools/package.json", "limit": 1}' | node node_modules/@delta/tools/read.mjs`

/**
 * The tools work in an empty directory: alone, and as what an agent imports, which is then this copy and not the one in the command line.
 *
 * @param {string} directory
 * @param {Packed} tools
 * @param {Packed} cli
 */
export async function useTools(directory, tools, cli) {
  await install(directory, [tools])
  const alone = await runOrThrow(['sh', '-c', READ], inside(directory))
  if (alone !== '     1\t{\n[there is more: offset 2]\n') throw new Error(`$ ${READ}\nprints ${alone}`)

  await install(directory, [tools, cli])
  await runOrThrow(['npx', 'delta', 'init', 'agents/made'], inside(directory))
  const { version } = tools.manifest
  const written = readFileSync(join(directory, 'agents/made/agent.yaml'), 'utf8')
  const range = `^${version.split('.').slice(0, 2).join('.')}`
  if (!written.includes(`npm:@delta/tools@${range}/`)) throw new Error(`delta init writes ${written}`)
  writeFileSync(join(directory, 'agents/made/script.yaml'), SCRIPT)
  const run = ['npx', 'delta', 'run', '--agent', 'agents/made', '-w', 'place', '-m', 'Go', '-q']
  const answer = await runOrThrow(run, inside(directory))
  if (!answer.includes('+two')) throw new Error(`$ ${run.join(' ')}\nprints ${answer}`)
  const shown = await runOrThrow(['npx', 'delta', 'show', '-w', 'place', '-v'], inside(directory))
  const edit = join(directory, 'node_modules/@delta/tools/edit.mjs')
  if (!shown.includes(edit)) throw new Error(`${edit} is not what was started:\n${shown}`)
  console.log(`${tools.name} ${version} works alone, and in an agent that imports it.`)
}

const SCRIPT = `- tool_calls: [{ name: write, arguments: { path: a.txt, content: one } }]
- tool_calls: [{ name: edit, arguments: { path: a.txt, edits: [{ old: one, new: two }] } }]
- content: '{{last_observation}}'
`
