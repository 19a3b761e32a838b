import { appendFileSync, lstatSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { runProcess } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bytesOf } from '../src/bytes.js'
import { isSame } from '../src/compare-trees.js'
import { openStore } from '../src/index.js'
import { readEntry } from '../src/read-entry.js'
import { slices } from '../src/slices.js'
import { statusOf } from '../src/walk.js'
import { contents, describeDirectory, hasTools, scene, sh, take } from './helpers.js'

const isRoot = process.getuid?.() === 0

describe.skipIf(!hasTools)('what is not in a snapshot is named:', () => {
  test('pipes, sockets, devices and files above 100 MB', async () => {
    const { from, store, at } = await scene(
      'mkdir d && mkfifo d/pipe && truncate -s 100000001 d/large && echo 1 > d/a',
    )
    const server = createServer().listen(join(from, 'socket'))
    onTestFinished(() => void server.close())
    const { id, omitted } = await store.take({ files: { directory: from } })
    expect(omitted).toHaveLength(3)
    expect(omitted).toContainEqual({ root: 'files', path: 'd/large', why: 'large', bytes: 100_000_001 })
    expect(omitted).toContainEqual({ root: 'files', path: 'd/pipe', why: 'fifo' })
    expect(omitted).toContainEqual({ root: 'files', path: 'socket', why: 'socket' })
    await store.restore(id ?? '', 'files', join(at, 'back'))
    expect(sh(join(at, 'back'), 'find . -type f')).toBe('./d/a\n')
    expect((await store.take({ files: { directory: from } })).omitted).toHaveLength(3) // named each time
  })

  test('what a pattern matches: a name at any depth, or a path', async () => {
    const { from, store, at } = await scene(`
      mkdir -p node_modules/x a/node_modules build/out a/build/out src
      touch node_modules/x/y a/node_modules/z build/out/o a/build/out/o .env src/.env src/a.log src/kept a/node_modules2
    `)
    const ignore = ['node_modules/', 'build/out', '*.log', '.env']
    const { id, omitted } = await store.take({ files: { directory: from } }, { ignore })
    expect(omitted.map(({ path, why }) => `${path} ${why}`).sort()).toEqual([
      '.env ignored',
      'a/node_modules ignored',
      'build/out ignored',
      'node_modules ignored',
      'src/.env ignored',
      'src/a.log ignored',
    ])
    await store.restore(id ?? '', 'files', join(at, 'back'))
    expect(sh(join(at, 'back'), 'find . -type f | sort')).toBe(
      './a/build/out/o\n./a/node_modules2\n./src/kept\n',
    )
  })

  test('what is ignored from now on is gone from the next snapshot', async () => {
    const { from, store } = await scene('mkdir d && touch d/a b')
    await take(store, from)
    const { id } = await store.take({ files: { directory: from } }, { ignore: ['d'] })
    const paths: string[] = []
    for await (const { path } of store.list(id ?? '')) paths.push(String(path))
    expect(paths).toEqual(['', 'b'])
  })

  test('stores: of runs below, and the one that is written', async () => {
    const { from, at } = await scene(
      'mkdir -p sub/.delta/run1/snapshots/objects sub/.delta/run1/io && touch sub/.delta/run1/snapshots/objects/x sub/.delta/run1/io/y',
    )
    const store = await openStore(join(from, 'store'))
    await take(store, from)
    const { id, omitted } = await store.take({ files: { directory: from } })
    expect(omitted).toEqual([{ root: 'files', path: 'sub/.delta/run1/snapshots', why: 'snapshots' }])
    await store.restore(id ?? '', 'files', join(at, 'back'))
    expect(sh(join(at, 'back'), 'find . -type f')).toBe('./sub/.delta/run1/io/y\n')
  })

  test('but for what the caller excludes, by any path that leads there', async () => {
    const { from, store } = await scene(
      'mkdir .delta runs && touch .delta/a runs/b c && ln -s "$PWD" ../other',
    )
    const exclude = ['.delta', join(from, '../other/runs'), 'missing']
    const { id, omitted } = await store.take({ files: { directory: from, exclude } })
    expect(omitted).toEqual([])
    expect(await contents(store, id ?? '', 'c')).toBe('')
    expect(await contents(store, id ?? '', 'runs/b')).toBeUndefined()
    expect(await contents(store, id ?? '', '.delta/a')).toBeUndefined()
  })

  test('a link that is excluded is not kept as a link: it would lead a copy to the original', async () => {
    const { from, store } = await scene('mkdir ../runs && ln -s ../runs .delta && touch a')
    const { id } = await store.take({ files: { directory: from, exclude: ['.delta'] } })
    expect([await contents(store, id ?? '', 'a'), await contents(store, id ?? '', '.delta')]).toEqual([
      '',
      undefined,
    ])
  })

  test('a file that is written to all the time, and the rest is kept', async () => {
    const { from, store } = await scene('head -c 60000000 /dev/zero > log && echo 1 > other')
    let isOver = false
    const write = () => {
      appendFileSync(join(from, 'log'), 'x')
      if (!isOver) setImmediate(write)
    }
    write()
    const { id, omitted } = await store.take({ files: { directory: from } })
    isOver = true
    expect(omitted).toEqual([{ root: 'files', path: 'log', why: 'changing' }])
    expect(await contents(store, id ?? '', 'other')).toBe('1\n')
    expect(await contents(store, await take(store, from), 'log')).toHaveLength(
      lstatSync(join(from, 'log')).size,
    )
  })

  test.skipIf(isRoot)(
    'a file and a directory that may not be read (skipped for root, who may read all)',
    async () => {
      const { from, store } = await scene('mkdir d && touch d/a b && echo 1 > c && chmod 0 d b')
      const { id, omitted } = await store.take({ files: { directory: from } })
      expect(omitted.map(({ path, why }) => `${path} ${why}`).sort()).toEqual([
        'b unreadable',
        'd unreadable',
      ])
      expect(await contents(store, id ?? '', 'c')).toBe('1\n')
      sh(from, 'chmod 755 d b')
      expect((await store.take({ files: { directory: from } })).omitted).toEqual([])
    },
  )

  test('a path that is too long for the system', async () => {
    const { from, store } = await scene(
      'name=$(printf "n%.0s" {1..250}); for i in {1..20}; do mkdir "$name" && cd "$name"; done',
    )
    const { id, omitted } = await store.take({ files: { directory: from } })
    expect(id).not.toBeNull()
    expect(omitted.map(({ why }) => why)).toEqual(['unreadable'])
  })
})

describe.skipIf(!hasTools)('a file that is another by the time it is read', () => {
  async function readAfter(change: (path: string) => void) {
    const { from } = await scene('echo old > file')
    const path = join(from, 'file')
    const seen = statusOf(lstatSync(path, { bigint: true }))
    change(path)
    const read = await readEntry(bytesOf(path), seen, slices())
    return typeof read === 'string' ? read : String(read.bytes)
  }

  test('is read as it is then, or not at all', async () => {
    expect(await readAfter(() => {})).toBe('old\n')
    expect(await readAfter((path) => rmSync(path))).toBe('gone')
    expect(
      await readAfter((path) => {
        writeFileSync(`${path}2`, 'new')
        renameSync(`${path}2`, path)
      }),
    ).toBe('new')
  })

  test('may have changed in the same tick of the clock when it changed just before, so the next snapshot reads it again', async () => {
    const { from } = await scene()
    const path = join(from, 'file')
    const statusAfter = async (change: () => void) => {
      change()
      const read = await readEntry(bytesOf(path), statusOf(lstatSync(path, { bigint: true })), slices())
      return typeof read === 'string'
        ? read
        : { isFresh: read.status.isFresh, isSame: isSame(read.status, read.status) }
    }
    await expect
      .poll(() => statusAfter(() => writeFileSync(path, 'new')))
      .toEqual({ isFresh: true, isSame: false })
    await expect.poll(() => statusAfter(() => {})).toEqual({ isFresh: false, isSame: true })
  })

  test('is no way to another file, and does not block', async () => {
    const intoLink = (path: string) => {
      rmSync(path)
      symlinkSync('/etc/passwd', path)
    }
    expect(await readAfter(intoLink)).toBe('changing')
    expect(await readAfter((path) => sh('/', `rm ${path}; mkfifo ${path}`))).toBe('changing')
    expect(await readAfter((path) => sh('/', `rm ${path}; mkdir ${path}`))).toBe('changing')
  })

  test('while another process swaps it for pipes and links without an end', async () => {
    const { from, store, at } = await scene(
      'echo secret > ../secret; for i in {1..300}; do echo $i > $i; done',
    )
    const swap =
      'while :; do for i in {1..300}; do rm -f $i; mkfifo $i; rm -f $i; ln -s ../secret $i; rm -f $i; echo 1 > $i; done; done'
    const swapping = runProcess(['timeout', '2', 'bash', '-c', swap], { cwd: from })
    let isOver = false
    swapping.then(() => {
      isOver = true
    })
    for (let index = 0; !isOver; index++) {
      await store.restore(await take(store, from), 'files', join(at, `back${index}`))
      expect(sh(join(at, `back${index}`), 'grep -rl secret . || true')).toBe('')
    }
    await swapping
    const last = await take(store, from)
    await store.restore(last, 'files', join(at, 'last'))
    expect(describeDirectory(join(at, 'last'))).toEqual(
      describeDirectory(from).filter((line) => !line.includes('|p|')),
    )
  })
})
