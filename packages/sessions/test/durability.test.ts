import { mkdirSync, readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanUpSessions } from '../src/index.js'
import { start, startCommandLine } from './helpers.js'

test('a session that was started is on the disk before anybody is told', async () => {
  const { workDirectory } = await start()
  const sessionsDirectory = join(workDirectory, 'others')
  const log = join(workDirectory, 'calls')
  const { exitCode, stdout } = await startCommandLine(
    ['start', 'bash', '--sessions-dir', sessionsDirectory],
    undefined,
    { preload: join(import.meta.dirname, 'log-calls.mjs'), env: { ...process.env, LOG_CALLS: log } },
  ).result
  expect(exitCode).toBe(0)
  const { session_id: id } = JSON.parse(stdout)
  const calls = readFileSync(log, 'utf8').trimEnd().split('\n')
  const written = calls.indexOf('renamed metadata.json')
  expect(written).toBeGreaterThan(calls.indexOf('renamed current'))
  expect(calls.slice(written)).toEqual([
    'renamed metadata.json',
    `synced new-${id}`,
    `renamed ${id}`,
    'synced others',
    `synced ${basename(workDirectory)}`,
  ])
})

test('a new state is on the disk before it becomes current, and current before the command is answered', async () => {
  const { id, directory, workDirectory, sessionsDirectory } = await start()
  mkdirSync(join(workDirectory, 'inner'))
  const log = join(workDirectory, 'calls')
  const command = ['exec', id, 'cd inner; export NEW=1; unexported=1', '--sessions-dir', sessionsDirectory]
  const { exitCode } = await startCommandLine(command, undefined, {
    preload: join(import.meta.dirname, 'log-calls.mjs'),
    env: { ...process.env, LOG_CALLS: log },
  }).result
  expect(exitCode).toBe(0)
  const state = basename(readlinkSync(join(directory, 'current')))
  const calls = readFileSync(log, 'utf8').split('\n')
  const first = calls.indexOf('synced env')
  expect(calls.slice(first, first + 9)).toEqual([
    'synced env',
    'synced work_dir.txt',
    'synced state.bash',
    'synced SHA256SUMS',
    'synced env.sh',
    `synced ${state}`,
    'synced states',
    'renamed current',
    `synced ${id}`,
  ])
  const metadata = calls.indexOf('renamed metadata.json')
  expect(calls[metadata - 1]).toMatch(/^synced metadata.json.*tmp$/) // nobody finds an empty file in its place
})

test('what a killed start or end leaves is removed by cleanup, but not what is being started now', async () => {
  const { id, sessionsDirectory } = await start()
  for (const name of ['sess_a.ended', 'new-sess_b', 'new-sess_c'])
    mkdirSync(join(sessionsDirectory, name, 'states', '1'), { recursive: true })
  const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
  utimesSync(join(sessionsDirectory, 'new-sess_b'), longAgo, longAgo)
  expect(await cleanUpSessions({ sessionsDirectory })).toEqual([])
  expect(readdirSync(sessionsDirectory).sort()).toEqual(['new-sess_c', id])
})
