import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endSession, execInSession, startSession } from '@delta/sessions'

const cwd = await mkdtemp(join(tmpdir(), 'first-'))
const options = { sessionsDirectory: join(cwd, '.sessions'), env: process.env }

const { sessionId } = await startSession('bash', { ...options, cwd })
await execInSession(
  sessionId,
  'mkdir src && cd src; export NAME=Ada; greet() { echo "hello $NAME"; }',
  options,
)
const { stdout, exitCode } = await execInSession(sessionId, 'greet; basename "$PWD"; exit 3', options)
console.log(JSON.stringify({ stdout, exitCode }))
console.log((await endSession(sessionId, options)).status)
await rm(cwd, { recursive: true })
