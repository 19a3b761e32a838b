import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canStart, runProcess, unseenProcesses } from '@delta/testkit'
import { expect, test } from 'vitest'
import { workspace } from './workspace.js'

const PROGRAM = `
  import { findOrphans, recordProcess, runCommand } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
  const { status, signal } = await runCommand(['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'], {
    cwd: process.cwd(), env: process.env, timeoutMs: 100, graceMs: 100,
    onSpawn: ({ pid }) => recordProcess('record.json', pid),
  })
  console.log(status, signal, findOrphans({ recordPath: 'record.json' }).length)`

test.for(Object.entries(unseenProcesses))(
  'where %s, a command that does not heed TERM is killed all the same',
  async ([, place], context) => {
    context.skip(!canStart(place), 'a user namespace is needed, and refused here')
    const { path } = await workspace()
    const node = [process.execPath, '--input-type=module', '-e', PROGRAM]
    const { stdout, stderr } = await runProcess([...place, ...node], { cwd: path })
    expect([stdout, stderr]).toEqual(['TIMEOUT SIGKILL 0\n', ''])
    expect(readFileSync(join(path, 'record.json'), 'utf8')).toContain('"start_time":""')
  },
)
