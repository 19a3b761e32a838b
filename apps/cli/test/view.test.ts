import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, served, startDelta } from './delta.js'

const ASSETS = fileURLToPath(new URL('../dist/assets/index.html', import.meta.url))
const viewing = test.skipIf(!existsSync(ASSETS)) // npm run demo builds the command without it

/** Starts `delta view`, until the test ends. */
async function view(args: string[], cwd?: string) {
  const started = startDelta(['view', ...args], cwd === undefined ? {} : { cwd })
  onTestFinished(() => {
    started.kill('SIGKILL')
  })
  const line = await started.waitForOutput(/^Viewing .*\n/m)
  const [, count = '', url = ''] = /^Viewing (.*): (\S+)$/m.exec(line) ?? []
  const [, token = '', path = ''] = /#t=([\w-]+)(.*)$/.exec(url) ?? []
  const { origin } = new URL(url)
  const get = async (route: string) =>
    (await fetch(`${origin}${route}`, { headers: { authorization: `Bearer ${token}` } })).json()
  return { started, count, origin, path, get }
}

/** The ids of the runs that a page shows. */
async function shown({ get }: Awaited<ReturnType<typeof view>>): Promise<string[]> {
  const { runs } = (await get('/api/runs')) as { runs: { id: string }[] }
  return runs.map(({ id }) => id).sort()
}

viewing(
  'the runs of a directory and below are served until Ctrl+C, at an address that ends with a token',
  async () => {
    const { run, workspace } = await served([{ content: 'Done.' }])
    await run('--run-id', 'one')
    const page = await view([], workspace.path)
    expect(page.count).toBe('1 run')
    expect(await shown(page)).toEqual(['one'])
    const shell = await fetch(page.origin)
    expect(await shell.text()).toContain('<div id="app">')
    expect(page.started.stderr).toContain('Ctrl+C stops it. Over ssh: ssh -L ')
    page.started.kill('SIGINT')
    expect((await page.started.result).exitCode).toBe(130)
  },
)

viewing('the page opens on a run that is named by a part of its id or by its directory', async () => {
  const { run, workspace } = await served([{ content: 'Done.' }, { content: 'Done.' }])
  await run('--run-id', '20261120_093000_a1b2c3')
  await run('--run-id', 'other', '--new')
  const named = await view(['a1b2c3'], workspace.path)
  const { runs } = (await named.get('/api/runs')) as { runs: { id: string; key: string }[] }
  const key = runs.find(({ id }) => id.endsWith('a1b2c3'))?.key
  expect(named.path).toBe(`/run/${key}`)
  expect(runs).toHaveLength(2)
  const directory = await view([`${workspace.path}/.delta/other`])
  expect([directory.path.startsWith('/run/'), await shown(directory)]).toEqual([true, ['other']])
})

viewing('runs that a workspace keeps elsewhere are found', async () => {
  const { run, workspace } = await served([{ content: 'Done.' }])
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await run('--run-id', 'kept', '--runs-dir', elsewhere.path)
  expect(await shown(await view([workspace.path]))).toEqual(['kept'])
  expect(await shown(await view(['--runs-dir', elsewhere.path]))).toEqual(['kept'])
})

viewing('a directory without runs, and a run that is not there, are errors that say what is', async () => {
  const { run, workspace } = await served([{ content: 'Done.' }])
  const empty = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const nothing = await delta(['view', empty.path])
  expect(nothing.exitCode).toBe(2)
  expect(nothing.stderr).toBe(
    `Error: No runs in ${empty.path} or below. Make one: delta run --agent <directory> -m <task>\n`,
  )
  await run('--run-id', 'one')
  const unknown = await delta(['view', '4be1'], { cwd: workspace.path })
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    2,
    `Error: No run 4be1 in ${workspace.path}. Runs there: one.\n`,
  ])
})

test.each(['80x', '0', '65536', '-1'])('--port %o is refused', async (port) => {
  const { exitCode, stderr } = await delta(['view', `--port=${port}`])
  expect([exitCode, stderr]).toEqual([2, 'Error: --port: must be a number from 1 to 65535.\n'])
})

viewing('a port that is named and taken is refused', async () => {
  const { run, workspace } = await served([{ content: 'Done.' }])
  await run()
  const taken = createServer()
  onTestFinished(() => void taken.close())
  await once(taken.listen(0, '127.0.0.1'), 'listening')
  const { port } = taken.address() as AddressInfo
  const { exitCode, stderr } = await delta(['view', workspace.path, '--port', String(port)])
  expect([exitCode, stderr]).toEqual([
    2,
    `Error: Port ${port} is taken. Leave --port out to use a free one.\n`,
  ])
})

viewing('a run is written into one file, with a line that says what it holds', async () => {
  const { run, workspace } = await served([{ content: 'Done.' }])
  await run('--run-id', 'one')
  const { stdout, stderr, exitCode } = await delta(['view', 'one', '--export', 'run.html'], {
    cwd: workspace.path,
  })
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^run\.html: 1 step, 0\.[12] MB\.\n$/)])
  expect(stderr).toContain('read it before you share it, or use --redact.')
  const html = await readFile(join(workspace.path, 'run.html'), 'utf8')
  expect(html).toMatch(/^<!doctype html>/)
  expect(html).toContain(workspace.path)
  const redacted = await delta(['view', 'one', '--export', 'run.html', '--redact'], { cwd: workspace.path })
  expect(redacted.exitCode).toBe(0)
  expect(await readFile(join(workspace.path, 'run.html'), 'utf8')).not.toContain(workspace.path)
})

test('a file cannot be written into a directory that is not there', async () => {
  const { workspace } = await served([])
  const { stderr, exitCode } = await delta(['view', '--export', 'none/run.html'], { cwd: workspace.path })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`--export: there is no directory ${join(workspace.path, 'none')}.`)
})

test('--full and --redact are about a file', async () => {
  const { stderr, exitCode } = await delta(['view', '--full'])
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('--full and --redact are for --export FILE.'),
  ])
})
