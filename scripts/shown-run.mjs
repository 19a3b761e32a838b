import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root, testEnvironment } from './lib/environment.mjs'

const FILE = 'docs/assets/run.html'
const TASK = 'Repair the functions in lib/, one after the other, until sh check.sh says that all are right.'

/**
 * Lets an agent repair twelve functions. Its first run may take twelve steps; a fork of it goes on to the fortieth, and its engine is
 * killed in the middle of a check. Before it goes on, the system prompt is edited, so that the provider's cache is lost.
 *
 * @returns {Promise<string>} the page of both runs
 */
async function shownRun() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'delta-shown-')))
  const agent = join(home, 'agent')
  const first = join(home, 'first')
  const second = join(home, 'second')
  cpSync(join(root, 'scripts/lib/shown-agent'), agent, { recursive: true })
  cpSync(join(agent, 'sample'), first, { recursive: true })
  rmSync(join(agent, 'sample'), { recursive: true })
  const env = { ...testEnvironment(), HOME: home, USER: 'you', LOGNAME: 'you', HANGS: join(home, 'hangs') }
  /** @param {string[]} words */
  const delta = (...words) => {
    const child = spawn(process.execPath, [join(root, 'apps/cli/bin.cjs'), ...words], {
      cwd: home,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    /** @type {Promise<number | null>} null: ended by a signal */
    const ended = new Promise((resolve) => child.on('close', resolve))
    return { child, ended }
  }
  try {
    await delta(
      'run',
      '-q',
      '--agent',
      agent,
      '-w',
      first,
      '--run-id',
      'first',
      '--max-iterations',
      '12',
      '-m',
      TASK,
    ).ended
    const fork = ['--at', '9', '-w', first, '--into', second]
    const engine = delta('fork', 'first', '-q', ...fork)
    await Promise.race([until(() => existsSync(env.HANGS)), engine.ended])
    engine.child.kill('SIGKILL')
    if ((await engine.ended) !== null) throw new Error('The engine ended before its check hung.')
    const prompt = join(agent, 'system_prompt.md')
    writeFileSync(
      prompt,
      `${readFileSync(prompt, 'utf8').trim()} Be quick: a check that hangs is not waited for.\n`,
    )
    const code = await delta('continue', '-q', '-w', second).ended
    if (code !== 0) throw new Error(`The run that goes on ends with ${code}.`)
    const file = join(home, 'run.html')
    const written = await delta('view', second, first, '--export', file, '--redact').ended
    if (written !== 0) throw new Error(`The export ends with ${written}.`)
    return readFileSync(file, 'utf8').replace(new RegExp(`(\\\\?")${hostname()}\\1`, 'g'), '$1laptop$1')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** @param {() => boolean} isSo */
async function until(isSo) {
  while (!isSo()) await sleep(20)
}

mkdirSync(join(root, 'docs/assets'), { recursive: true })
const page = await shownRun()
writeFileSync(join(root, FILE), page)
console.log(`${FILE}: ${Math.round(page.length / 1000)} kB`)
