import { expect, test } from 'vitest'
import { complaint, load, MINIMAL } from './agents.js'

const snapshots = (written: string) => ({
  'agent.yaml': `${MINIMAL['agent.yaml']}snapshots: ${written}\n`,
})

test('snapshots are off unless agent.yaml says otherwise, in one word or with what is left out', async () => {
  const settings = async (written: string) => (await load(snapshots(written))).agent.snapshots
  expect((await load()).agent.snapshots).toBeUndefined()
  expect(await settings('off')).toBeUndefined()
  expect(await settings('every_iteration')).toEqual({ ignore: [], maxBytes: 5e9, waitMs: 200 })
  expect(
    await settings('{ every: iteration, ignore: [node_modules, "*.log"], max_bytes: 1.5GB, wait_ms: 0 }'),
  ).toEqual({
    ignore: ['node_modules', '*.log'],
    maxBytes: 1.5e9,
    waitMs: 0,
  })
  expect(await settings('{ every: iteration, max_bytes: 500000 }')).toMatchObject({ maxBytes: 500_000 })
  const { agent } = await load(snapshots('every_iteration'), { overrides: ['snapshots=off'] })
  expect(agent.snapshots).toBeUndefined()
})

test('a mistake in snapshots is an error that says what to write', async () => {
  expect(await complaint(snapshots('on'))).toContain(
    'snapshots: must be one of every_iteration, off, or { every: iteration, … }, got "on".',
  )
  expect(await complaint(snapshots('{ every: iteration, max_bytes: 1XB }'))).toContain(
    'snapshots.max_bytes: "1XB" is not a size. Write 500MB or 1GB.',
  )
  const misspelt = await complaint(snapshots('{ evry: iteration }'))
  expect(misspelt).toContain('unknown key "evry"')
  expect(misspelt).toContain('Did you mean "every"?')
})
