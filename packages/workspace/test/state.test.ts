import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { smallDisk } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { isOwnRun, listingOwnRuns, placeToWork, rememberPlace } from '../src/index.js'

function scene() {
  const home = mkdtempSync(join(tmpdir(), 'delta-state-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const run = join(home, 'ws/.delta/one')
  mkdirSync(run, { recursive: true })
  return { home, run, state: join(home, 'state') }
}

const WAY = 'Set DELTA_STATE_DIR to a directory that you can write.'

test('W2: a state directory that is a file, or in which nothing can be made, is refused before a run is listed', () => {
  const { home, state } = scene()
  writeFileSync(state, '')
  for (const [directory, reason] of [
    [state, 'it is a file, not a directory, or is below a file (ENOTDIR).'],
    ['/proc/nowhere', 'nothing can be created there (ENOENT).'],
  ] as const)
    expect(() => listingOwnRuns({ DELTA_STATE_DIR: directory })).toThrow(
      `${directory}/runs: Cannot be written: ${reason}\nDelta remembers there which runs are yours. ${WAY}`,
    )
  expect(() => listingOwnRuns({ DELTA_STATE_DIR: 'state' })).toThrow('it is not an absolute path')
  const homeless = { HOME: join(home, 'nobody') }
  expect(() => listingOwnRuns(homeless)).toThrow(`the home directory ${homeless.HOME} does not exist.`)
  expect(existsSync(homeless.HOME)).toBe(false)
})

test('W2: a state directory on a full disk is refused before a run is listed', async (context) => {
  await using disk = await smallDisk()
  if (!disk.mounted) return context.skip()
  const env = { DELTA_STATE_DIR: join(disk.path, 'state') }
  const { run } = scene()
  listingOwnRuns(env)(run, { agent: { home: '/', snapshot: { overrides: [] } } }) // on another device than the run
  expect(isOwnRun(run, env)).toBe(true)
  try {
    writeFileSync(join(disk.path, 'filling'), Buffer.alloc(1_000_000))
  } catch {
    // as much as fits
  }
  expect(() => listingOwnRuns(env)).toThrow('no space is left on the disk (ENOSPC).')
})

test('what is old and gone is forgotten: some files at each start', () => {
  const { home, run, state } = scene()
  const env = { DELTA_STATE_DIR: state }
  const list = listingOwnRuns(env)
  const old = new Date(Date.now() - 100 * 24 * 60 * 60 * 1000)
  const beginnings = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'))
  for (const [index, beginning] of beginnings.entries()) {
    const file = join(state, 'runs', beginning.padEnd(32, '0'))
    const path = index % 2 === 0 ? '/gone' : home // what is there stays
    writeFileSync(file, index === 7 ? 'damaged' : JSON.stringify({ path }))
    utimesSync(file, old, old)
  }
  const rest = () => readdirSync(join(state, 'runs')).filter((name) => name.endsWith('0'.repeat(30)))
  for (let set = 0; set < 40; set++)
    list(run, { agent: { home: '/', snapshot: { overrides: [String(set)] } } })
  expect(rest().length).toBeLessThan(256)
  expect(rest().filter((name) => Number.parseInt(name.slice(0, 2), 16) % 2 === 1)).toHaveLength(128)
})

test('W2: a runs directory is remembered for its workspace, refused inside or above it, and dropped when the default is named', () => {
  const { home, state } = scene()
  const surroundings = { cwd: home, env: { DELTA_STATE_DIR: state } }
  const workspace = join(home, 'ws')
  const placeOf = (runsDir?: string) =>
    placeToWork(workspace, runsDir === undefined ? {} : { runsDir }, surroundings)
  for (const wrong of ['ws/inside', '.', '/']) expect(() => placeOf(wrong)).toThrow(`--runs-dir ${wrong}: `)
  rememberPlace(placeOf('kept'), surroundings)()
  expect(placeOf().runsDirectory).toBe(join(home, 'kept'))
  rememberPlace(placeOf('ws/.delta'), surroundings)()
  expect(placeOf().runsDirectory).toBeUndefined()
  expect(readdirSync(join(state, 'workspaces'))).toHaveLength(1)
})
