import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endSession, execInSession, startSession } from '@delta/sessions'

const workDirectory = await mkdtemp(join(tmpdir(), 'first-'))
const sessionsDirectory = join(workDirectory, '.sessions')
const environment = process.env

const { session_id: id } = await startSession('bash', { sessionsDirectory, workDirectory, environment })
await execInSession(id, 'mkdir src && cd src; export NAME=Ada; greet() { echo "hello $NAME"; }', {
  sessionsDirectory,
  environment,
})
const result = await execInSession(id, 'greet; basename "$PWD"; exit 3', { sessionsDirectory, environment })
console.log(JSON.stringify({ stdout: result.stdout, exit_code: result.exit_code }))
console.log((await endSession(id, { sessionsDirectory })).status)
await rm(workDirectory, { recursive: true })
