import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openStore } from '../src/index.js'
import { describeDirectory, hasTools, scene, sh } from './helpers.js'

const name = fc.constantFrom('a', 'b', ',', ',a', '.git', 'a b', 'a\nb', 'é')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))

/** What may happen to a file, as shell functions of one or two paths; what cannot be done is not done. */
const step = fc.tuple(
  fc.constantFrom(
    'write',
    'append',
    'remove',
    'makeDirectory',
    'link',
    'move',
    'makeExecutable',
    'close',
    'age',
    'pipe',
  ),
  path,
  path,
)

const STEPS = `
write() { [ -p "$1" ] || echo "$2" > "$1"; } # a pipe would block
append() { [ -p "$1" ] || echo "$2" >> "$1"; }
remove() { rm -rf "./$1"; }
makeDirectory() { mkdir -p "$1"; }
link() { ln -sfn "$2" "$1"; }
move() { mv -T "./$1" "./$2"; }
makeExecutable() { chmod +x "$1"; }
close() { chmod 500 "$1"; chmod u+w "$1"; }
age() { touch -h -d @1000 "$1"; }
pipe() { mkfifo "$1"; }
while [ $# -gt 0 ]; do "$1" "$2" "$3" 2> /dev/null || true; shift 3; done
`

test.skipIf(!hasTools)('whatever happens between two snapshots, each is what was there', async () => {
  const { at } = await scene()
  let run = 0
  const takesAll = async (rounds: [string, string, string][][]) => {
    run += 1
    const from = join(at, `from${run}`)
    sh(at, `mkdir from${run}`)
    const store = await openStore(join(at, `store${run}`))
    for (const [round, steps] of rounds.entries()) {
      execFileSync('bash', ['-c', STEPS, 'bash', ...steps.flat()], { cwd: from })
      const { id, filesId } = await store.take({ files: { directory: from } })
      const fresh = await openStore(join(at, `fresh${run}.${round}`))
      const anew = await fresh.take({ files: { directory: from } })
      expect([
        filesId,
        await store.compare({ id: id ?? '' }, { id: anew.id ?? '', store: join(at, `fresh${run}.${round}`) }),
      ]).toEqual([anew.filesId, []])
      const back = join(at, `back${run}.${round}`)
      await store.restore(id ?? '', 'files', back)
      expect(describeDirectory(back)).toEqual(describeDirectory(from).filter((line) => !line.includes('|p|')))
    }
  }
  const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 5 })
  await fc.assert(fc.asyncProperty(rounds, takesAll), { numRuns: process.env.DELTA_TESTS === 'real' ? 8 : 3 })
})
