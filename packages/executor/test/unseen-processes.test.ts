import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { workspace } from './workspace.js'

/** What a program is started with, to be where the system does not show it its own processes. */
const places: Record<string, string[]> = {
  'no /proc is mounted': [
    ...['unshare', '--map-root-user', '--mount'],
    ...['sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'],
  ],
  '/proc is that of another container': [
    ...['unshare', '--map-root-user', '--pid', '--fork', '--kill-child'],
    ...['sh', '-c', 'echo 32000 > /proc/sys/kernel/ns_last_pid; "$@"', 'sh'], // a number nobody has in that /proc
  ],
}

const PROGRAM = `
  import { findOrphans, recordProcess, runCommand } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
  const { status, signal } = await runCommand(['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'], {
    cwd: process.cwd(), env: process.env, timeoutMs: 100, graceMs: 100,
    onSpawn: ({ pid }) => recordProcess('record.json', pid),
  })
  console.log(status, signal, findOrphans({ recordPath: 'record.json' }).length)`

test.for(Object.entries(places))(
  'where %s, a command that does not heed TERM is killed all the same',
  async ([, place], context) => {
    const [unshare = '', ...words] = [...place, 'true']
    context.skip(spawnSync(unshare, words).status !== 0, 'a user namespace is needed, and refused here')
    const { path } = await workspace()
    const node = [process.execPath, '--input-type=module', '-e', PROGRAM]
    const { stdout, stderr } = await runProcess([...place, ...node], { cwd: path })
    expect([stdout, stderr]).toEqual(['TIMEOUT SIGKILL 0\n', ''])
    expect(readFileSync(join(path, 'record.json'), 'utf8')).toContain('"start_time":""')
  },
)
