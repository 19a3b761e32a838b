import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TemporaryWorkspace } from '../../../packages/testkit/dist/index.js'
import { delta, EXAMPLES, runDirectoryOf, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/only-when-needed'

interface Block {
  source_id: string
  tokens: number
  note?: string
}

/** The context blocks of each request of a new run in a workspace. */
async function run(
  workspace: TemporaryWorkspace,
  task: string,
  environment?: Record<string, string>,
): Promise<Block[][]> {
  const agent = join(EXAMPLES, EXAMPLE)
  const args = ['run', '--agent', agent, '-w', workspace.path, '-m', task, '--new', '--no-sync', '-q']
  expect(await delta(args, environment)).toMatchObject({ exitCode: 0 })
  const directory = join(await runDirectoryOf(workspace), 'io/invocations')
  const records = (await readdir(directory)).sort()
  return Promise.all(
    records.map(async (name) => JSON.parse(await readFile(join(directory, name), 'utf8')).blocks),
  )
}

const tokensOf = (blocks: Block[] = []) => blocks.reduce((sum, { tokens }) => sum + tokens, 0)
const block = (blocks: Block[] | undefined, id: string) =>
  blocks?.find(({ source_id }) => source_id === id) ?? { source_id: id, tokens: -1 }

test('a handbook costs nothing when the task does not need it, and an inventory is made once', async () => {
  const workspace = await workspaceOf(EXAMPLE, { 'src/a.ts': 'export {}\n' })
  const [about] = await run(workspace, 'Document the API.')
  const other = await run(workspace, 'Count the files.')
  expect(tokensOf(other[0])).toBeLessThan(tokensOf(about) / 4)
  expect(block(other[0], 'api_handbook')).toMatchObject({
    tokens: 0,
    note: 'left out: task_contains does not hold',
  })
  const inventories = () => workspace.read('.delta/inventory-runs')
  expect(await inventories()).toBe('run\n')

  await workspace.write('src/b.ts', 'export {}\n')
  await run(workspace, 'Count the files.')
  expect(await inventories()).toBe('run\nrun\n')
})

test('rules are sent only where their file, their variable or their iteration is', async () => {
  const plain = await workspaceOf(EXAMPLE, { 'src/a.ts': '' })
  const python = await workspaceOf(EXAMPLE, { 'src/a.ts': '', 'pyproject.toml': '' })
  const without = await run(plain, 'Go.')
  const together = await run(python, 'Go.', { RELEASE: '1' })
  for (const id of ['python_rules', 'release_rules']) {
    expect(without.map((blocks) => block(blocks, id).tokens)).toEqual([0, 0, 0])
    for (const blocks of together) expect(block(blocks, id).tokens).toBeGreaterThan(0)
  }
  expect(without.map((blocks) => block(blocks, 'come_to_an_end').tokens > 0)).toEqual([false, false, true])
})

test('of a log of 30,000 tokens 300 are sent', async () => {
  const log = Array.from({ length: 20_000 }, (_, index) => `${index}\n`).join('')
  const workspace = await workspaceOf(EXAMPLE, { 'src/a.ts': '', 'build.log': log })
  const [blocks] = await run(workspace, 'Go.')
  expect(block(blocks, 'build_log').note).toMatch(/^cut from 3\d{4} to \d+ tokens \(max_tokens\)$/)
  expect(block(blocks, 'build_log').tokens).toBeLessThanOrEqual(300)
})
