import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../src/index.js'
import { contents, describeDirectory, hasTools, scene, sh, take } from './helpers.js'

/** Enough that it is not read within one slice. */
const MUCH =
  'for i in {1..40}; do head -c 700000 /dev/urandom > $i; done; mkdir sub && head -c 3000000 /dev/urandom > sub/a'

describe.skipIf(!hasTools)('a snapshot that is given up by its signal', () => {
  test('has no id, says so at once, and names the largest directories', async () => {
    const { from, store } = await scene(MUCH)
    const giveUp = new AbortController()
    const taking = store.take({ files: { directory: from } }, { signal: giveUp.signal })
    giveUp.abort()
    expect(await taking).toMatchObject({
      id: null,
      filesId: null,
      reason: 'time',
      message: 'The snapshot was given up before everything was read.',
    })
    expect(existsSync(join(from, '../store'))).toBe(false)
  })

  test('leaves what it has read in the store, so that some later attempt succeeds', async () => {
    const { from, store, at } = await scene(MUCH)
    const all = 31_000_000
    let sum = 0
    let most = 0
    for (let attempts = 1; ; attempts++) {
      const giveUp = new AbortController()
      const before = store.bytes()
      const taking = store.take({ files: { directory: from } }, { signal: giveUp.signal })
      const isOver = taking.then(() => true)
      while (store.bytes() < before + 1_000_000 && !(await Promise.race([isOver, nextTurn()])));
      giveUp.abort()
      const { id, bytes, largest, stored = 0, changed } = await taking
      sum += bytes
      if (id !== null) {
        expect(attempts).toBeGreaterThan(1)
        await store.restore(id, 'files', join(at, 'back'))
        break
      }
      expect(bytes).toBeLessThan(all)
      if (bytes === 0) continue
      expect(largest).toEqual([{ root: 'files', path: 'sub', bytes: 3_000_000 }])
      expect(stored).toBeGreaterThan(most)
      expect(stored).toBeLessThanOrEqual(changed)
      most = stored
    }
    expect(sum).toBeLessThan(1.5 * all) // each file once, but for those that were so new that they are read again
    expect(describeDirectory(join(at, 'back'))).toEqual(describeDirectory(from))
  })

  test('does not wait for the snapshots before it', async () => {
    const { from, store } = await scene(MUCH)
    const first = store.take({ files: { directory: from } })
    const giveUp = new AbortController()
    const second = store.take({ files: { directory: from } }, { signal: giveUp.signal })
    giveUp.abort()
    expect(await Promise.race([first, second])).toMatchObject({ id: null, reason: 'time' })
    expect(await first).toMatchObject({ id: expect.any(String) })
    expect((await store.take({ files: { directory: from } })).id).not.toBeNull()
  })

  test('is given up by the end of the store, too, which then takes none', async () => {
    const { from, store } = await scene(MUCH)
    const taking = store.take({ files: { directory: from } })
    store.close()
    expect(await taking).toMatchObject({ id: null, reason: 'time' })
    await expect(store.take({ files: { directory: from } })).rejects.toMatchObject({
      code: 'ERR_SNAPSHOT_CLOSED',
      message: `${join(from, '../store')} was closed.`,
    })
  })
})

function nextTurn(): Promise<boolean> {
  return new Promise((resolve) => setImmediate(() => resolve(false)))
}

describe.skipIf(!hasTools)('without an id and with a reason ends', () => {
  test('a snapshot that could pass the budget', async () => {
    const { from, store } = await scene(
      'head -c 1000 /dev/urandom > a; mkdir d; head -c 500 /dev/urandom > d/b',
    )
    const { id, ...rest } = await store.take({ files: { directory: from } }, { maxBytes: 1499 })
    expect({ id, ...rest, durationMs: 0 }).toEqual({
      id: null,
      filesId: null,
      durationMs: 0,
      changed: 2,
      bytes: 0,
      omitted: [],
      reason: 'budget',
      message:
        'The store has 0 bytes, and what changed has up to 1500 more: together more than the 1499 allowed.',
      largest: [{ root: 'files', path: 'd', bytes: 500 }],
    })
    expect((await store.take({ files: { directory: from } }, { maxBytes: 1500 })).id).not.toBeNull()
    const used = store.bytes()
    expect(used).toBe(
      Number(sh(from, "find ../store -type f -printf '%s\n' | paste -sd+ | bc || true")) || used,
    )
    writeFileSync(join(from, 'c'), 'x'.repeat(100))
    expect((await store.take({ files: { directory: from } }, { maxBytes: used + 50 })).reason).toBe('budget')
    expect((await store.take({ files: { directory: from } }, { maxBytes: used + 50_000 })).id).not.toBeNull()
  })

  test('one of a root that is a file', async () => {
    const { from, store } = await scene('touch file')
    expect(await store.take({ files: { directory: join(from, 'file') } })).toMatchObject({
      id: null,
      reason: 'io',
    })
  })

  test('one into a place that is none', async () => {
    const { from, at } = await scene('touch file ../store')
    const store = await openStore(join(at, 'store'))
    expect(await store.take({ files: { directory: from } })).toMatchObject({ id: null, reason: 'io' })
  })

  test('one whose git fails, and the next is taken', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    useGit(at, 'echo "fatal: write error: No space left on device" >&2; exit 128')
    expect(await store.take({ files: { directory: from } })).toMatchObject({
      id: null,
      reason: 'git',
      message: 'git fast-import: fatal: write error: No space left on device',
    })
    vi.unstubAllEnvs()
    expect(await contents(store, await take(store, from), 'a')).toBe('1\n')
  })
})

/** Puts a script before git's `fast-import`; `$git` is the real one. */
function useGit(at: string, script: string): void {
  const bin = join(at, 'bin')
  const git = sh(at, 'command -v git').trim()
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/bash\ngit=${git}\nif [ "$1" != fast-import ]; then exec $git "$@"; fi\n${script}\n`,
    { mode: 0o755 },
  )
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
}

const KILLS = process.env.DELTA_TESTS === 'real' ? 25 : 8

describe.skipIf(!hasTools)('git may be killed at any moment:', () => {
  test('the next snapshot is taken, and nothing is left behind', async () => {
    const { from, store, at } = await scene('for i in {1..60}; do head -c 300000 /dev/urandom > $i; done')
    const random =
      '(for i in $(seq $((RANDOM % 40))); do sleep 0.004; done; kill -9 $$) < /dev/null > /dev/null 2>&1 &'
    useGit(at, `${random} exec $git "$@"`)
    const results: (string | null)[] = []
    for (let index = 0; index < KILLS; index++) {
      sh(from, `echo ${index} > changed; touch *`)
      const { id, reason } = await store.take({ files: { directory: from } })
      if (id === null) expect(reason).toBe('git')
      results.push(id)
    }
    vi.unstubAllEnvs()
    expect(results).toContain(null)
    const last = await take(store, from)
    await store.restore(last, 'files', join(at, 'back'))
    expect(describeDirectory(join(at, 'back'))).toEqual(describeDirectory(from))
    expect(sh(at, 'ls store; ls store/objects/pack | grep -v "^pack-.*[xk]$" || true')).toBe('objects\n')
    for (const [index, id] of results.entries()) {
      if (id !== null) expect(await contents(store, id, 'changed')).toBe(`${index}\n`)
    }
  })
})
