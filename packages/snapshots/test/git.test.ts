import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { hasTools, scene, sh, take } from './helpers.js'

// The version is asked once in a process: these come before the first snapshot of this file.
describe('without a git that is new enough', () => {
  const words = 'git 2.25 or newer is needed to take and open snapshots; it'

  test.each([
    ['is missing', undefined, `${words} is not installed.`],
    ['is too old', 'echo git version 2.24.4', `${words} is 2.24.4.`],
    ['is of another kind', 'echo nothing', `${words} is of an unknown version.`],
  ])('because it %s, a snapshot has no id and a restore is an error', async (_, script, message) => {
    const { from, store, at } = await scene('echo 1 > a && mkdir -p ../store/objects/pack ../bin')
    if (script) writeFileSync(join(at, 'bin/git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    vi.stubEnv('PATH', join(at, 'bin'))
    onTestFinished(() => void vi.unstubAllEnvs())
    const taken = await store.take({ files: { directory: from } })
    expect(taken).toMatchObject({ id: null, reason: 'git', message })
    const error = { code: 'ERR_SNAPSHOT_NO_GIT', message }
    await expect(store.restore('1'.repeat(40), 'files', join(at, 'back'))).rejects.toMatchObject(error)
  })
})

describe.skipIf(!hasTools)('git', () => {
  test('that is removed later is missed, too', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    const id = await take(store, from)
    sh(from, 'echo 2 > a')
    vi.stubEnv('PATH', at)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(store.restore(id, 'files', join(at, 'back'))).rejects.toMatchObject({
      code: 'ERR_SNAPSHOT_NO_GIT',
    })
    expect(await store.take({ files: { directory: from } })).toMatchObject({ id: null, reason: 'git' })
  })

  test('leaves nothing in the temporary directory and nothing that others can read, and is not started when nothing has changed', async () => {
    const { from, store, at } = await scene('echo 1 > a && mkdir ../bin ../tmp && sleep 0.02') // later than the clock's tick
    const git = sh(at, 'command -v git').trim()
    writeFileSync(join(at, 'bin/git'), `#!/bin/sh\necho "$@" >> ${at}/calls\nexec ${git} "$@"\n`, {
      mode: 0o755,
    })
    vi.stubEnv('PATH', `${at}/bin:${process.env.PATH}`)
    vi.stubEnv('TMPDIR', join(at, 'tmp'))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(tmpdir()).toBe(join(at, 'tmp'))
    const id = await take(store, from)
    expect(await take(store, from)).toBe(id)
    await store.restore(id, 'files', join(at, 'back'))
    expect(sh(at, 'ls -A tmp')).toBe('')
    expect(sh(at, 'find store -type f -printf "%m\\n" | sort -u')).toBe('400\n')
    expect(sh(at, 'cut -d" " -f1 calls')).toBe('fast-import\nls-tree\ncat-file\ncat-file\n')
  })

  test('gets a directory where the temporary one has room, or the snapshot says why not', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    vi.stubEnv('TMPDIR', join(at, 'missing'))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await store.take({ files: { directory: from } })).toMatchObject({ id: null, reason: 'io' })
    mkdirSync(join(at, 'missing'))
    expect((await store.take({ files: { directory: from } })).id).not.toBeNull()
  })
})
