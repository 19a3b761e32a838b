// The same loop with what Delta puts on disk, and the client Delta asks with; nothing else of Delta. The request is recorded
// by parts and with its hash before it leaves, and its answer after; the command has a process group and two streams, and
// a record with who it is while it runs and how it ended. The parts of a request are synced before the line that names it.
// No recovery, no validation, no lease, nothing read back: node recording-floor.mjs <base url> <workspace>
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInThisContext } from 'node:vm'
import { converse, openLog } from './by-hand.mjs'

const [baseUrl, workspace] = process.argv.slice(2)
const home = join(workspace, '.floor')
const invocations = join(home, 'invocations')
const executions = join(home, 'executions')
mkdirSync(invocations, { recursive: true })
mkdirSync(executions)
const journal = openLog(home, 'journal.jsonl')
const parts = openLog(home, 'parts.jsonl')
const { openAiModel } = loadBundle(fileURLToPath(new URL('../../apps/cli/dist/openai.cjs', import.meta.url)))
const model = openAiModel({ baseUrl })
const stdout = outputFile('stdout')
const stderr = outputFile('stderr')
let recorded = 0
let commands = 0

async function ask(messages) {
  const asked = { model: 'scripted', messages }
  const body = Buffer.from(JSON.stringify(asked))
  for (const part of messages.slice(recorded)) parts.append({ type: 'MESSAGE', part })
  recorded = messages.length
  const record = openSync(join(invocations, `${recorded}.json`), 'wx')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const text = JSON.stringify({ timestamp: new Date().toISOString(), sha256, parts: [1, recorded] })
  writeSync(record, `${text}\n`)

  const { message, raw } = await model.complete(asked, { bytes: body })
  writeSync(record, `,"response":${JSON.stringify(raw)}}\n`, text.length - 1)
  parts.sync()
  closeSync(record)
  return message
}

/** As the command line loads it, see `apps/cli/src/bundles.ts`. */
function loadBundle(path) {
  const module = { exports: {} }
  const bundle = runInThisContext(readFileSync(path, 'latin1'), { filename: path })
  bundle(module.exports, createRequire(path), module)
  return module.exports
}

function run(argv, announce) {
  commands += 1
  const record = openSync(join(executions, `${commands}.json`), 'wx')
  writeSync(record, `${' '.repeat(511)}\n`)
  announce()
  const env = { PATH: process.env.PATH, DELTA_ACTION_ID: String(commands) }
  const stdio = ['ignore', stdout.descriptor, stderr.descriptor]
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), { cwd: workspace, stdio, env, detached: true })
    child.on('error', reject)
    overwrite(record, { pid: child.pid, startTime: startTime(child.pid) })
    child.on('exit', (exitCode) => {
      const printed = stdout.take()
      overwrite(record, { argv, exitCode, stdout: printed, stderr: stderr.take() })
      closeSync(record)
      resolve(printed)
    })
  })
}

/** Of Linux; elsewhere it costs more to find out. */
function startTime(pid) {
  return process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[21] : ''
}

/** What one command after the other prints to; a command that goes on printing is not thought of. */
function outputFile(name) {
  const path = join(home, name)
  const descriptor = openSync(path, 'ax+')

  function take() {
    const text = readFileSync(path, 'utf8')
    ftruncateSync(descriptor, 0)
    return text
  }
  return { descriptor, take }
}

function overwrite(descriptor, record) {
  const line = Buffer.from(`${JSON.stringify(record)}\n`)
  writeSync(descriptor, line, 0, line.length, 0)
  ftruncateSync(descriptor, line.length)
}

await converse({ journal, ask, run })
