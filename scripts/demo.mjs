import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, realpathSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'
import { root, testEnvironment } from './lib/environment.mjs'

const AGENT = 'examples/1-basics/word-counter'
const DOCUMENTS = 'examples/3-advanced/research-agent/sample/sources'
const DELTA = 'node apps/cli/bin.cjs'

/** What count.sh of the agent takes for a file: three files, and one of them begun twice. */
const SECONDS_PER_FILE = 2

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
 * Types the demo's commands: an agent is killed in the middle of a tool, goes on, writes its report; the end of its journal.
 *
 * @param {string} workspace as it is typed
 * @param {{ cwd?: string, secondsPerFile?: number, output?: number }} [options]
 *   `output` is a file descriptor for everything that is shown; by default our own stdout and stderr
 * @returns {Promise<number>} the first exit code that is not 0, or 0
 */
export async function playDemo(workspace, { cwd = root, secondsPerFile = SECONDS_PER_FILE, output } = {}) {
  const env = { ...testEnvironment(), SECONDS_PER_FILE: String(secondsPerFile) }
  /** @param {string} text */
  const print = (text) => (output === undefined ? process.stdout.write(text) : writeSync(output, text))
  /** @param {string} command */
  const type = (command, start = command) => {
    print(`\n$ ${command}\n`)
    const child = spawn('sh', ['-c', start], { cwd, env, stdio: ['ignore', output ?? 1, output ?? 2] })
    /** @type {Promise<number | null>} null: ended by a signal */
    const ended = new Promise((resolve) => child.on('close', resolve))
    return { child, ended }
  }

  const run = `${DELTA} run --agent ${AGENT} -w ${workspace} -m "Which are the longest?"`
  const engine = type(run, `exec ${run}`) // so that the shell becomes the engine
  await Promise.race([firstCount(join(cwd, workspace, 'counts')), engine.ended])
  await sleep(secondsPerFile * 100)
  engine.child.kill('SIGKILL')
  if ((await engine.ended) !== null) return 1 // it ended by itself, and has said why
  print(`\n$ kill -9 ${engine.child.pid}   # the engine, in the middle of count_words\n`)
  await sleep(secondsPerFile * 100)

  for (const command of [
    `${DELTA} continue -w ${workspace}`,
    `cat ${workspace}/report.md`,
    `tail -n 5 ${workspace}/.delta/*/journal.jsonl | cut -c 1-110`,
  ]) {
    const code = await type(command).ended
    if (code !== 0) return code ?? 1
  }
  return 0
}

/** @param {string} path of the file that the tool appends to */
async function firstCount(path) {
  for (;;) {
    try {
      if (readFileSync(path, 'utf8').includes('\n')) return
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    }
    await sleep(20)
  }
}

/**
 * What a person can type after the demo, in the clone's root.
 *
 * @param {string} workspace as it is typed
 * @returns {{ command: string, shows: string }[]}
 */
export function nextCommands(workspace) {
  return [
    { command: `${DELTA} show -w ${workspace}`, shows: 'the whole run, with the interrupted call' },
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

/** `npm run demo`: builds the command line, an agent at work on real files, and where to go from there. */
async function main() {
  if (!(await bootstrap({ only: '@delta/cli' }))) return 1
  const workspace = `workspaces/${makeWorkspace(join(root, 'workspaces'))}`
  console.log('\nAn agent at work. Its model is a script, so it needs no key and no network.')
  const code = await playDemo(workspace)
  if (code !== 0) return code
  console.log('\nWhat to type next:')
  for (const { command, shows } of nextCommands(workspace)) console.log(`  # ${shows}\n  ${command}`)
  console.log(`  # the run in a browser; "npm run build" makes the page first\n  ${DELTA} view ${workspace}`)
  return 0
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main()
}
