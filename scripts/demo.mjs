import { copyFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'
import { root, testEnvironment } from './lib/environment.mjs'
import { show } from './lib/step.mjs'

const AGENT = 'examples/1-basics/hello-world'
const DOCUMENTS = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md']
const DELTA = 'node apps/cli/bin.cjs'

/**
 * Makes the next free `demo-001`, `demo-002` … and puts copies of this repository's documents there to work on.
 *
 * @param {string} parent
 * @returns {string} the name of the new directory
 */
export function makeWorkspace(parent) {
  mkdirSync(parent, { recursive: true })
  for (let number = 1; ; number++) {
    const name = `demo-${String(number).padStart(3, '0')}`
    try {
      mkdirSync(join(parent, name))
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') continue
      throw error
    }
    for (const document of DOCUMENTS) copyFileSync(join(root, document), join(parent, name, document))
    return name
  }
}

/**
 * The line that starts the agent.
 *
 * @param {string} workspace as it is typed
 */
export function agentCommand(workspace) {
  return `${DELTA} run --agent ${AGENT} -w ${workspace} -m "Which of these documents are the longest?"`
}

/**
 * What a person can type after the demo, in the clone's root.
 *
 * @param {string} workspace as it is typed
 * @returns {{ command: string, shows: string }[]}
 */
export function nextCommands(workspace) {
  return [
    { command: `cat ${workspace}/report.md`, shows: 'what the agent wrote' },
    { command: `${DELTA} list-runs -w ${workspace}`, shows: 'the runs of this workspace' },
    { command: `${DELTA} tool expand ${AGENT}`, shows: 'what its tools really execute' },
    { command: `${DELTA} init workspaces/my-agent`, shows: 'make an agent of your own' },
    { command: `${DELTA} run --agent workspaces/my-agent -m "What is here?"`, shows: 'and run it' },
    { command: `${DELTA} --help`, shows: 'everything else' },
  ]
}

/** `npm run demo`: bootstrap, an agent at work on real files, and where to go from there. */
async function main() {
  if (!(await bootstrap())) return 1
  const workspace = `workspaces/${makeWorkspace(join(root, 'workspaces'))}`
  console.log('\nAn agent at work. Its model is a script, so it needs no key and no network.')
  console.log(`$ ${agentCommand(workspace)}\n`)
  const code = await show(['sh', '-c', agentCommand(workspace)], { env: testEnvironment() })
  if (code !== 0) return code

  const runId = readFileSync(join(root, workspace, '.delta', 'LATEST'), 'utf8').trim()
  console.log('\nEverything that happened is in the journal, one event a line:')
  console.log(`  ${workspace}/.delta/${runId}/journal.jsonl`)
  console.log('\nWhat to type next:')
  for (const { command, shows } of nextCommands(workspace)) console.log(`  # ${shows}\n  ${command}`)
  return 0
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main()
}
