import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { readRequest } from '../../../packages/journal/dist/index.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const delta = fileURLToPath(new URL('../../../apps/cli/bin.cjs', import.meta.url))
const TASK = 'Where does the treasure lie?'

test('a hundred iterations fit into 4,000 tokens, and neither the task nor page 7 is lost', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'delta-memory-'))
  onTestFinished(() => rm(workspace, { recursive: true, force: true }))
  const argv = [delta, 'run', '--agent', here, '-w', workspace, '-m', TASK, '--no-sync', '-q']
  const { stdout } = await execa(process.execPath, argv)
  expect(stdout.trim()).toBe('the treasure lies under the old oak.')

  const run = join(workspace, '.delta', (await readFile(join(workspace, '.delta/LATEST'), 'utf8')).trim())
  const records = (await readdir(join(run, 'io/invocations'))).sort()
  expect(records).toHaveLength(101)
  for (const [index, name] of records.entries()) {
    const { blocks } = JSON.parse(await readFile(join(run, 'io/invocations', name), 'utf8'))
    const tokens = blocks.reduce((sum: number, block: { tokens: number }) => sum + block.tokens, 0)
    expect(tokens).toBeLessThanOrEqual(4000)

    const { messages } = JSON.parse(await readRequest(run, index + 1))
    expect(messages.filter(({ role }: { role: string }) => role === 'user')).toEqual([
      { role: 'user', content: TASK },
    ])
  }
}, 180_000)
