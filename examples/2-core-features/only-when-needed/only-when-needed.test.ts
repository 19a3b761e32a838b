import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const delta = fileURLToPath(new URL('../../../apps/cli/bin.cjs', import.meta.url))

interface Block {
  source_id: string
  tokens: number
  note?: string
}

/** The context blocks of each request of a new run in a workspace. */
async function run(workspace: string, task: string): Promise<Block[][]> {
  await execa(process.execPath, [
    delta,
    'run',
    '--agent',
    here,
    '-w',
    workspace,
    '-m',
    task,
    '--new',
    '--no-sync',
    '-q',
  ])
  const id = (await readFile(join(workspace, '.delta/LATEST'), 'utf8')).trim()
  const directory = join(workspace, '.delta', id, 'io/invocations')
  const records = (await readdir(directory)).sort()
  return Promise.all(
    records.map(async (name) => JSON.parse(await readFile(join(directory, name), 'utf8')).blocks),
  )
}

const tokensOf = (blocks: Block[] = []) => blocks.reduce((sum, { tokens }) => sum + tokens, 0)

test('a handbook costs nothing when the task does not need it, and an inventory is made once', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'delta-needed-'))
  onTestFinished(() => rm(workspace, { recursive: true, force: true }))
  await mkdir(join(workspace, 'src'))
  await writeFile(join(workspace, 'src/a.ts'), 'export {}\n')

  const [about] = await run(workspace, 'Document the API.')
  const other = await run(workspace, 'Count the files.')
  expect(tokensOf(other[0])).toBeLessThan(tokensOf(about) / 4)
  expect(other[0]?.find(({ source_id }) => source_id === 'api_handbook')).toMatchObject({
    tokens: 0,
    note: 'left out: task_contains does not hold',
  })
  const inventories = () => readFile(join(workspace, '.delta/inventory-runs'), 'utf8')
  expect(await inventories()).toBe('run\n')

  await writeFile(join(workspace, 'src/b.ts'), 'export {}\n')
  await run(workspace, 'Count the files.')
  expect(await inventories()).toBe('run\nrun\n')
})
