import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../src/index.js'
import { contents, describeDirectory, hasTools, scene, sh, take } from './helpers.js'

/** How often a file is written again, and how many states one process keeps; `npm run test:real` does it often. */
const [AGAIN, STATES] = process.env.DELTA_TESTS === 'real' ? [40, 200] : [11, 20]

const EVERY_KIND = readFileSync(join(import.meta.dirname, 'every-kind.sh'), 'utf8')

describe.skipIf(!hasTools)('what goes into a snapshot comes out of it:', () => {
  test('every kind of file, name, mode, link and time, and nested repositories with their commits', async () => {
    const { from, store, at } = await scene(EVERY_KIND)
    const before = describeDirectory(from)
    const snapshot = await store.take({ files: { directory: from } })
    expect(snapshot).toMatchObject({ omitted: [], filesId: expect.any(String) })
    expect(describeDirectory(from)).toEqual(before)

    const { files, bytes } = await store.restore(snapshot.id ?? '', 'files', join(at, 'back'))
    expect(describeDirectory(join(at, 'back'))).toEqual(before)
    expect([files, bytes]).toEqual([snapshot.changed, snapshot.bytes])
    expect(sh(join(at, 'back/repository/inner'), 'git log --format=%s && git status --short')).toBe('two\n')
    expect(sh(at, 'git -C back fsck')).toBe('')
  })

  test('the top directory with its own mode and time, unless it was there before', async () => {
    const { from, store, at } = await scene('chmod 2750 . && touch -d @1000000000 .')
    const id = await take(store, from)
    await store.restore(id, 'files', join(at, 'deep/er/new'))
    expect(sh(at, 'stat -c "%a %Y" deep/er/new')).toBe('2750 1000000000\n')

    mkdirSync(join(at, 'there'), { mode: 0o700 })
    await store.restore(id, 'files', join(at, 'there'))
    expect(statSync(join(at, 'there')).mode & 0o7777).toBe(0o700)
  })

  test('each state that a directory went through, by the store that saw all of it and by a new one', async () => {
    const { from, store, at } = await scene('mkdir a b && echo 1 > a/f && echo 2 > b/f')
    const steps = [
      'rm a/f && mkdir a/f && echo 3 > a/f/g', // a file becomes a directory
      'rm -r a/f && echo 4 > a/f', // and a file again
      'rm a/f && ln -s ../b a/f', // and a link
      'rm a/f && mkfifo a/f', // and nothing that can be kept
      'rm a/f && ln -s f a/f && mv a/f b/g', // a link to itself
      'chmod 700 b && chmod +x b/f',
      'touch -d @5 b/f && touch -h -d @6 b/g && touch -d @7 a b .',
      'mkdir -p c/d/e && mv b c/d/e && rm -r a',
      'printf 5 > c/d/e/b/f', // shorter
      'rm -rf c',
    ]
    const taken: { id: string; state: string[] }[] = []
    for (const step of steps) {
      sh(from, step)
      const snapshot = await store.take({ files: { directory: from } })
      const fresh = await openStore(join(at, `store${taken.length}`))
      expect((await fresh.take({ files: { directory: from } })).filesId, step).toBe(snapshot.filesId)
      taken.push({
        id: snapshot.id ?? '',
        state: describeDirectory(from).filter((line) => !/\|p\|/.test(line)),
      })
    }
    for (const [index, { id, state }] of taken.entries()) {
      await store.restore(id, 'files', join(at, `back${index}`))
      expect(describeDirectory(join(at, `back${index}`)), steps[index]).toEqual(state)
    }
  })

  test('contents that were written again at once, with the same size', async () => {
    const { from, store } = await scene()
    for (let index = 0; index < AGAIN; index++) {
      writeFileSync(join(from, 'file'), String(index % 10))
      const id = await take(store, from)
      expect(await contents(store, id, 'file')).toBe(String(index % 10))
    }
  })

  test('contents that were written behind the back of the file’s time', async () => {
    const { from, store, at } = await scene('printf one > file && touch -d @1000 file')
    await take(store, from)
    sh(from, 'printf two > file && touch -d @1000 file')
    await store.restore(await take(store, from), 'files', join(at, 'back'))
    expect(readFileSync(join(at, 'back/file'), 'utf8')).toBe('two')
  })

  test('several roots, of which one may come later and go again', async () => {
    const { from, store, at } = await scene('mkdir work && echo 1 > work/a')
    const roots = { files: { directory: join(from, 'work') }, artifacts: { directory: join(from, 'kept') } }
    const first = await store.take(roots)
    sh(from, 'mkdir kept && echo 2 > kept/b')
    const second = await store.take(roots)
    sh(from, 'rm -r kept work')
    const third = await store.take(roots)
    expect(second.filesId).toBe(first.filesId)
    expect(third).toMatchObject({ filesId: '4b825dc642cb6eb9a060e54bf8d69288fbee4904', changed: 2 })

    expect(await store.restore(first.id ?? '', 'artifacts', join(at, 'none'))).toEqual({ files: 0, bytes: 0 })
    await store.restore(second.id ?? '', 'artifacts', join(at, 'kept'))
    expect(sh(at, 'ls; cat kept/b')).toBe('from\nkept\nstore\n2\n')
  })

  test(`${STATES} states in one process`, async () => {
    const { from, store, at } = await scene('mkdir -p a/b && touch a/other')
    const ids: string[] = []
    for (let index = 0; index < STATES; index++) {
      writeFileSync(join(from, 'a/b/file'), `${index}`)
      ids.push(await take(store, from))
    }
    for (const index of [0, STATES / 2, STATES - 1]) {
      await store.restore(ids[index] ?? '', 'files', join(at, `back${index}`))
      expect(readFileSync(join(at, `back${index}/a/b/file`), 'utf8')).toBe(`${index}`)
    }
  })
})

test.skipIf(!hasTools)('no name in the store is one that git takes for its own', async () => {
  const { from, store, at } = await scene(EVERY_KIND)
  const id = await take(store, from)
  const check =
    'git init -q --bare check && GIT_OBJECT_DIRECTORY=store/objects git --git-dir check fsck --strict'
  expect(sh(at, `${check} --no-progress ${id} 2>&1`)).toBe('')
})

describe.skipIf(!hasTools)('an id', () => {
  test('of the files is git’s own id of a tree with the same files, whatever their times', async () => {
    const { from, store, at } = await scene(
      'mkdir d && echo 1 > d/a && echo 2 > b && chmod +x b && ln -s d l',
    )
    const { filesId } = await store.take({ files: { directory: from } })
    expect(sh(at, 'cp -r from copy && cd copy && git init -q && git add . && git write-tree')).toBe(
      `${filesId}\n`,
    )

    sh(from, 'touch -d @5 b && mkdir empty')
    const later = await store.take({ files: { directory: from } })
    expect(later.filesId).toBe(filesId)
    chmodSync(join(from, 'b'), 0o644)
    expect((await store.take({ files: { directory: from } })).filesId).not.toBe(filesId)
  })

  test('is the one before when nothing has changed, and the store does not grow', async () => {
    const { from, store } = await scene('echo 1 > a && touch -d @5 a && sleep 0.02') // later than the clock's tick
    const first = await store.take({ files: { directory: from } })
    const bytes = store.bytes()
    expect(bytes).toBeGreaterThan(0)
    expect(await store.take({ files: { directory: from } })).toMatchObject({
      id: first.id,
      filesId: first.filesId,
      changed: 0,
      bytes: 0,
    })
    expect(store.bytes()).toBe(bytes)
  })

  test('that the store does not have is an error that names it', async () => {
    const { from, store, at } = await scene('touch a')
    const id = '1'.repeat(40)
    const missing = {
      code: 'ERR_SNAPSHOT_UNKNOWN',
      message: `There is no snapshot ${id} in ${at}/store/objects.`,
    }
    await expect(store.restore(id, 'files', join(at, 'back'))).rejects.toMatchObject(missing) // the store is empty
    await take(store, from)
    await expect(store.restore(id, 'files', join(at, 'back'))).rejects.toMatchObject(missing)
    for (const odd of ['HEAD', '--help', '', '../x']) {
      await expect(store.list(odd).next()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_UNKNOWN' })
    }
    expect(sh(at, 'ls')).toBe('from\nstore\n')
  })
})

describe.skipIf(!hasTools)('a restore', () => {
  test('writes into a new or an empty directory only', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    const id = await take(store, from)
    sh(at, 'mkdir full empty && touch full/x plain')
    await expect(store.restore(id, 'files', join(at, 'full'))).rejects.toMatchObject({
      code: 'ERR_SNAPSHOT_NOT_EMPTY',
      message: `${at}/full is not empty. A snapshot is never restored over files; name a new directory.`,
    })
    await expect(store.restore(id, 'files', join(at, 'plain'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    await store.restore(id, 'files', join(at, 'empty'))
    expect(sh(at, 'ls full empty; cat empty/a')).toBe('empty:\na\n\nfull:\nx\n1\n')
  })

  test('ignores the umask of the process', async () => {
    const { from, store, at } = await scene('mkdir d && touch d/a && chmod 777 d d/a')
    const id = await take(store, from)
    const umask = process.umask(0o077)
    await store.restore(id, 'files', join(at, 'back')).finally(() => process.umask(umask))
    expect(sh(at, 'stat -c %a back/d back/d/a')).toBe('777\n777\n')
  })
})
