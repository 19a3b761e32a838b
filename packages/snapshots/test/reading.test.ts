import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Entry, openStore } from '../src/index.js'
import { contents, describeDirectory, hasTools, scene, sh, take } from './helpers.js'

describe.skipIf(!hasTools)('a snapshot can be', () => {
  test('listed: a directory before what is in it, with modes, times and sizes', async () => {
    const { from, store } = await scene(
      `mkdir d && printf hello > d/f && ln -s f d/l && mkdir 'd/empty' && touch -h -d @1000000000.5 d/f d/l d/empty && touch -d @7 d . && chmod 640 d/f`,
    )
    const listed: Entry[] = []
    for await (const entry of store.list(await take(store, from))) listed.push(entry)
    const mtimeNs = 1_000_000_000_500_000_000n
    expect(listed.map((entry) => ({ ...entry, path: String(entry.path) }))).toEqual([
      { path: '', type: 'directory', mode: 0o755, mtimeNs: 7_000_000_000n, size: 0, blob: null },
      { path: 'd', type: 'directory', mode: 0o755, mtimeNs: 7_000_000_000n, size: 0, blob: null },
      { path: 'd/empty', type: 'directory', mode: 0o755, mtimeNs, size: 0, blob: null },
      {
        path: 'd/f',
        type: 'file',
        mode: 0o640,
        mtimeNs,
        size: 5,
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
      {
        path: 'd/l',
        type: 'link',
        mode: 0o777,
        mtimeNs,
        size: 1,
        blob: expect.stringMatching(/^[0-9a-f]{40}$/),
      },
    ])
    const read = await Promise.all(listed.map((entry) => store.read(entry)))
    expect(read.map(String)).toEqual(['', '', '', 'hello', 'f'])
  })

  test('compared: added, changed, gone, and of another kind', async () => {
    const { from, store, at } = await scene(
      'mkdir d && for i in gone same changed kind mode time; do echo $i > d/$i; done',
    )
    const a = { id: await take(store, from) }
    sh(
      from,
      'cd d && rm gone kind && ln -s same kind && echo new > changed && chmod +x mode && touch time && touch added && mkdir empty',
    )
    const other = await openStore(join(at, 'other'))
    const b = { id: await take(other, from), store: join(at, 'other') }
    const changes = await store.compare(a, b)
    expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'A d/added',
      'M d/changed',
      'D d/gone',
      'T d/kind',
      'M d/mode',
    ])
    const [added, changed, gone, link, mode] = changes
    expect([added?.before, gone?.after]).toEqual([null, null])
    expect([link?.before?.type, link?.after]).toMatchObject(['file', { type: 'link', size: 4 }])
    expect([mode?.before?.isExecutable, mode?.after?.isExecutable]).toEqual([false, true])
    expect(String(changed?.before && (await store.read(changed.before)))).toBe('changed\n')
    expect(String(changed?.after && (await other.read(changed.after)))).toBe('new\n')
    const back = await other.compare({ ...a, store: join(at, 'store') }, { id: b.id })
    expect(back).toEqual(changes)
    expect(await store.compare(a, a)).toEqual([])
    expect(await store.compare({ ...a, root: 'artifacts' }, { ...a, root: 'files' })).toHaveLength(6)
  })

  test('copied with its store, while another is taken', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    const first = await take(store, from)
    sh(from, 'head -c 5000000 /dev/urandom > b')
    const [second] = await Promise.all([take(store, from), store.copyTo(join(at, 'copy'))])
    const copy = await openStore(join(at, 'copy'))
    expect(await contents(copy, first, 'a')).toBe('1\n')
    await store.copyTo(join(at, 'copy'))
    await copy.restore(second, 'files', join(at, 'back'))
    expect(describeDirectory(join(at, 'back'))).toEqual(describeDirectory(from))
    expect(copy.bytes()).toBe((await openStore(join(at, 'copy'))).bytes())
    expect((await copy.take({ files: { directory: from } })).id).not.toBeNull() // a store like any other
    expect(await contents(store, first, 'a')).toBe('1\n')
  })

  test('read from a store that nobody may write to, which stays byte for byte as it is', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    const id = await take(store, from)
    const listing = "find store -printf '%p %m %T@ %C@ %A@\\n'"
    const before = sh(at, `chmod -R a-w store && ${listing} | sed 's/ [^ ]*$//'`)
    const reader = await openStore(join(at, 'store'))
    expect(await contents(reader, id, 'a')).toBe('1\n')
    await reader.restore(id, 'files', join(at, 'back'))
    await reader.copyTo(join(at, 'copy'))
    expect(sh(at, `${listing} | sed 's/ [^ ]*$//'`)).toBe(before)
  })

  test('looked for in a store that does not exist, which is not created', async () => {
    const { at } = await scene()
    const reader = await openStore(join(at, 'missing'))
    await expect(contents(reader, '1'.repeat(40), 'a')).rejects.toMatchObject({
      code: 'ERR_SNAPSHOT_UNKNOWN',
    })
    expect(reader.bytes()).toBe(0)
    expect(sh(at, 'ls')).toBe('from\n')
  })
})

test.skipIf(!hasTools)(
  'a root has a name of letters, which is not the one for attributes, and a pattern is not empty',
  async () => {
    const { from, store } = await scene('touch a')
    for (const name of ['meta', 'a/b', '..', '', 'A']) {
      await expect(store.take({ [name]: { directory: from } })).rejects.toThrow(TypeError)
    }
    const ignore = ['']
    await expect(store.take({ files: { directory: from } }, { ignore })).rejects.toThrow(
      'Expected pattern to be a non-empty string',
    )
    expect((await store.take({ work: { directory: from } })).filesId).toBeNull()
  },
)
