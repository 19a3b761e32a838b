import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../src/index.js'
import { describeDirectory, hasTools, scene, sh, take } from './helpers.js'

describe.skipIf(!hasTools)('a store that somebody else wrote', () => {
  test('runs nothing: no hook, no configuration, no variable of the environment', async () => {
    const { from, store, at } = await scene('echo 1 > a')
    const first = await take(store, from)
    const evil = `touch ${at}/pwned`
    sh(
      at,
      `
      mkdir -p evil home
      for hook in reference-transaction post-index-change post-checkout pre-auto-gc; do printf '#!/bin/sh\\n${evil}\\n' > evil/$hook; done
      chmod +x evil/*
      printf '[core]\\n\\thooksPath = ${at}/evil\\n\\tfsmonitor = "${evil}"\\n\\tpager = "${evil}"\\n[include]\\n\\tpath = ${at}/config\\n[extensions]\\n\\tpartialClone = origin\\n[remote "origin"]\\n\\turl = ext::sh -c "${evil}"\\n\\tpromisor = true\\n' > config
      for place in store store/objects store/objects/info store/objects/pack/..; do mkdir -p $place/hooks && cp evil/* $place/hooks/ && cp config $place/config; done
      cp config home/.gitconfig; mkdir -p home/git && cp config home/git/config
      cp config store/.git || true
      `,
    )
    for (const [name, value] of Object.entries({
      HOME: join(at, 'home'),
      XDG_CONFIG_HOME: join(at, 'home'),
      GIT_CONFIG_GLOBAL: join(at, 'config'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: join(at, 'evil'),
      GIT_CONFIG_PARAMETERS: `'core.hooksPath=${at}/evil'`,
      GIT_DIR: join(at, 'store'),
      GIT_WORK_TREE: at,
      GIT_OBJECT_DIRECTORY: join(at, 'elsewhere'),
      GIT_TRACE: join(at, 'trace'),
      GIT_EXEC_PATH: join(at, 'evil'),
      GIT_TEMPLATE_DIR: join(at, 'evil'),
    })) {
      vi.stubEnv(name, value)
    }
    onTestFinished(() => void vi.unstubAllEnvs())

    writeFileSync(join(from, 'b'), '2')
    const second = await take(store, from)
    await store.restore(second, 'files', join(at, 'back'))
    expect(await store.compare({ id: first }, { id: second })).toMatchObject([
      { path: Buffer.from('b'), kind: 'A' },
    ])
    await store.copyTo(join(at, 'copy'))
    expect(sh(at, 'ls; ls -A copy copy/objects')).toBe(
      'back\nconfig\ncopy\nevil\nfrom\nhome\nstore\ncopy:\nobjects\n\ncopy/objects:\npack\n',
    )
  })

  test('reads no objects of others: what leads out of it is refused by name', async () => {
    const { from, store, at } = await scene('echo secret > a')
    const id = await take(store, from)
    sh(at, 'mv store/objects other && mkdir -p store/objects/pack store/objects/info')
    const refusal = (path: string) => ({
      code: 'ERR_SNAPSHOT_DAMAGED',
      message: `${at}/store/objects${path}: no snapshot puts this there, and git could read objects of others through it. Remove it.`,
    })
    const restore = () => store.restore(id, 'files', join(at, 'back'))

    sh(at, `echo ${at}/other > store/objects/info/alternates`)
    await expect(restore()).rejects.toMatchObject(refusal('/info/alternates'))
    sh(from, 'echo more > b')
    const { message } = refusal('/info/alternates')
    expect(await store.take({ files: { directory: from } })).toMatchObject({
      id: null,
      reason: 'git',
      message,
    })

    sh(
      at,
      'rm store/objects/info/alternates && ln -s ../../../other/pack/pack-*.pack store/objects/pack/pack-1.pack',
    )
    await expect(restore()).rejects.toMatchObject(refusal('/pack/pack-1.pack'))
    sh(at, 'rm -r store/objects/pack && ln -s ../../other/pack store/objects/pack')
    await expect(restore()).rejects.toMatchObject(refusal('/pack'))
    sh(at, 'rm -r store/objects && ln -s ../other store/objects')
    await expect(restore()).rejects.toMatchObject(refusal(''))
    await expect(store.copyTo(join(at, 'copy'))).rejects.toMatchObject(refusal(''))
    expect(existsSync(join(at, 'copy'))).toBe(false)
    expect(existsSync(join(at, 'back'))).toBe(false)

    sh(
      at,
      'mkdir -p away/pack && touch away/pack/tmp_mine && rm store/objects && ln -s ../away store/objects',
    )
    const takeAgain = async () => (await openStore(join(at, 'store'))).take({ files: { directory: from } })
    expect(await takeAgain()).toMatchObject({ id: null, message: refusal('').message })
    expect(sh(at, 'ls away/pack')).toBe('tmp_mine\n')
    sh(at, 'rm -r away/pack')
    expect(await takeAgain()).toMatchObject({ id: null, message: refusal('').message })
    sh(at, 'rm store/objects && mkdir store/objects && ln -s ../../away/pack store/objects/pack')
    expect(await takeAgain()).toMatchObject({ id: null, message: refusal('/pack').message })
    expect(sh(at, 'ls -A away')).toBe('')
  })
})

/**
 * Makes a snapshot by hand in the store. The script prints the ids of two trees, `files` and `meta/files`. `blob TEXT` and
 * `meta LINE...` store contents, `tree` a tree of lines `mode name id`, and `m LINE...` one with the attributes of a single
 * directory; each prints an id. `$id` is some contents. Texts and names are in printf's syntax.
 */
function craft(at: string, script: string): string {
  return sh(
    at,
    String.raw`
    mkdir -p craft/refs store/objects && echo 'ref: refs/heads/main' > craft/HEAD
    export GIT_DIR=$PWD/craft GIT_OBJECT_DIRECTORY=$PWD/store/objects GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
    blob() { printf "$1" | git hash-object -w --stdin; }
    tree() {
      while read -r mode name id; do printf "$mode $name\0"; printf "$id" | sed 's/../\\x&/g' | xargs -0 printf; done |
        git hash-object -t tree --literally -w --stdin
    }
    meta() { printf '%s\0' "$@" | git hash-object -w --stdin; }
    m() { echo "100644 , $(meta "$@")" | tree; }
    id=$(blob 'evil\n')
    crafted() {
      ${script}
    }
    read -r files meta < <(crafted)
    metas=$(printf '40000 files %s\n' "$meta" | tree)
    git commit-tree -m x "$(printf '40000 files %s\n40000 meta %s\n' "$files" "$metas" | tree)"
    `,
  ).trim()
}

describe.skipIf(!hasTools)('a snapshot made by hand', () => {
  const folder = join(import.meta.dirname, 'crafted')
  const cases = readdirSync(folder).map(
    (file) => [file.replace('.sh', '').replaceAll('-', ' '), file] as const,
  )
  test.each(cases)('that %s is refused, and nothing is written', async (_, file) => {
    const script = readFileSync(join(folder, file), 'utf8')
    const [, words = ''] = /^# says: (.*)$/m.exec(script) ?? []
    const { from, store, at } = await scene()
    const id = craft(at, script)
    const before = sh('/', `ls -A /tmp/pwned ${at} ${from} 2>&1 || true`)
    await expect(store.restore(id, 'files', join(at, 'deep/back'))).rejects.toMatchObject({
      code: 'ERR_SNAPSHOT_DAMAGED',
      message: expect.stringContaining(words),
    })
    expect(sh(at, 'cd deep/back 2> /dev/null && find . -mindepth 1 || true')).toBe('')
    expect(sh('/', `rm -rf ${at}/deep; ls -A /tmp/pwned ${at} ${from} 2>&1 || true`)).toBe(before)
  })

  test('that is as ours are is restored', async () => {
    const { store, at } = await scene()
    const id = craft(at, `echo $(echo "100644 a $id" | tree) $(m '755 1 .' '644 1 a')`)
    await store.restore(id, 'files', join(at, 'back'))
    expect(sh(at, 'cat back/a')).toBe('evil\n')
  })
})

test.skipIf(!hasTools)('links are restored as they are, and never followed', async () => {
  const { from, store, at } = await scene(
    'mkdir outside d && ln -s ../outside d/l && ln -s /etc/passwd p && ln -s d e',
  )
  await store.restore(await take(store, from), 'files', join(at, 'back'))
  expect(describeDirectory(join(at, 'back'))).toEqual(describeDirectory(from))
})
