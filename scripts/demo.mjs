import { cpSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'
import { root, testEnvironment } from './lib/environment.mjs'
import { show } from './lib/step.mjs'

const AGENT = 'examples/1-basics/hello-world'
const DOCUMENTS = 'examples/3-advanced/research-agent/sample/sources'
const DELTA = 'node apps/cli/bin.cjs'

/**
 * Makes the next free `demo-001`, `demo-002` … and puts some documents there to work on.
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
    cpSync(join(root, DOCUMENTS), join(parent, name), { recursive: true })
    return name
  }
}

/**
 * What the demo runs, each line as it could be typed: an agent at work, and the end of its journal.
 *
 * @param {string} workspace as it is typed
 */
export function demoCommands(workspace) {
  return [
    `${DELTA} run --agent ${AGENT} -w ${workspace} -m "Which are the longest?"`,
    `tail -n 4 ${workspace}/.delta/*/journal.jsonl | cut -c 1-110`,
  ]
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
    {
      command: `${DELTA} run --agent workspaces/my-agent -w ${workspace} -m "What is here?"`,
      shows: 'and run it',
    },
    { command: `${DELTA} --help`, shows: 'everything else' },
  ]
}

/** `npm run demo`: bootstrap, an agent at work on real files, and where to go from there. */
async function main() {
  if (!(await bootstrap())) return 1
  const workspace = `workspaces/${makeWorkspace(join(root, 'workspaces'))}`
  console.log('\nAn agent at work. Its model is a script, so it needs no key and no network.')
  for (const command of demoCommands(workspace)) {
    console.log(`\n$ ${command}`)
    const code = await show(['sh', '-c', command], { env: testEnvironment() })
    if (code !== 0) return code
  }
  console.log('\nWhat to type next:')
  for (const { command, shows } of nextCommands(workspace)) console.log(`  # ${shows}\n  ${command}`)
  return 0
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main()
}
