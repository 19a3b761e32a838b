import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, tryLimits } from '@delta/testkit'
import { expect, test } from 'vitest'
import { placeWith } from './place.js'

const OUTPUT = '${CWD}/.delta/context_artifacts/summary.md'
const computed = (script: string, more: object = {}) => ({
  sources: [
    {
      type: 'computed_file',
      id: 'summary',
      generator: { command: ['sh', '-c', script] },
      output_path: OUTPUT,
      ...more,
    },
  ],
})
const block = (text: string, id = 'summary') => [
  { role: 'system', content: `# Context Block: ${id}\n\n${text}` },
]

test('a generator runs in the work directory and finds its run in the environment', async () => {
  const { build, options, directory } = await placeWith()
  const script =
    'for v in DELTA_RUN_ID DELTA_RUN_DIR RUN_DIR DELTA_AGENT_HOME DELTA_CWD JOURNAL_PATH PWD; do eval "echo \\$$v"; done > .delta/context_artifacts/summary.md'
  const { messages } = await build(computed(script))
  const { AGENT_HOME, CWD, RUN_DIR } = options.variables
  expect(messages).toEqual(
    block(
      ['r1', RUN_DIR, RUN_DIR, AGENT_HOME, CWD, `${RUN_DIR}/journal.jsonl`, join(directory, 'work')]
        .map((line) => `${line}\n`)
        .join(''),
    ),
  )
})

test('a generator of an agent without a directory finds no AGENT_HOME', async () => {
  const { build, options } = await placeWith()
  const { AGENT_HOME: _, ...variables } = options.variables
  const { messages } = await build(computed('echo ${AGENT_HOME-none} ${DELTA_AGENT_HOME-none}'), {
    variables,
    env: { ...options.env, AGENT_HOME: '/another' },
  })
  expect(messages).toEqual(block('none none\n'))
})

test('variables are replaced in the words of a command, and only there', async () => {
  const { build, directory } = await placeWith()
  const command = ['printf', '%s|', '${AGENT_HOME}/x', '${OTHER}', '$CWD']
  const { messages } = await build({
    sources: [{ type: 'computed_file', id: 'a', generator: { command }, output_path: OUTPUT }],
  })
  expect(messages).toEqual(block(`${directory}/agent/x|\${OTHER}|$CWD|`, 'a'))
})

test('what a generator only prints is saved where it should have written', async () => {
  const { build, directory } = await placeWith()
  const { messages } = await build(computed('echo printed'))
  expect(messages).toEqual(block('printed\n'))
  const artifacts = join(directory, 'work/.delta/context_artifacts')
  expect(await readFile(join(artifacts, 'summary.md'), 'utf8')).toBe('printed\n')
  expect((await stat(artifacts)).mode & 0o777).toBe(0o700)
  expect((await stat(join(artifacts, 'summary.md'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(directory, 'work/.delta/.gitignore'), 'utf8')).toBe('*\n')
})

const CACHE = { cache: { strategy: 'file_hash', invalidate_on: ['in.txt'] } }

test('a receipt that cannot be written costs a run each time, and a link in its place is replaced, not written through', async () => {
  const { build, directory } = await placeWith({ 'elsewhere.txt': 'as it was\n' })
  const artifacts = join(directory, 'work/.delta/context_artifacts')
  const receipt = join(artifacts, 'summary.md.inputs.json')
  const manifest = computed('echo x >> ran; wc -l < ran', CACHE)
  await mkdir(receipt, { recursive: true })
  expect((await build(manifest)).messages).toEqual(block('1\n'))
  expect((await build(manifest)).messages).toEqual(block('2\n'))

  await rm(receipt, { recursive: true })
  await symlink(join(directory, 'elsewhere.txt'), receipt)
  expect((await build(manifest)).messages).toEqual(block('3\n'))
  expect(await readFile(join(directory, 'elsewhere.txt'), 'utf8')).toBe('as it was\n')
  expect((await readdir(artifacts)).sort()).toEqual(['summary.md', 'summary.md.inputs.json'])
  expect((await lstat(receipt)).isFile()).toBe(true)
})

test('an output_path that a link leads out of the workspace is not written, before and after the generator runs', async () => {
  const { build, directory } = await placeWith({ 'elsewhere/summary.md': 'as it was\n' })
  const artifacts = join(directory, 'work/.delta/context_artifacts')
  const refused = {
    code: 'ERR_CONTEXT_GENERATOR',
    message: expect.stringContaining(
      `output_path ${artifacts}/summary.md is a link that leads out of the workspace, to ${directory}/elsewhere/summary.md. Remove the link`,
    ),
  }
  const link = `rm -rf .delta/context_artifacts; ln -s ${directory}/elsewhere .delta/context_artifacts`
  await expect(
    build(computed(`echo new > .delta/context_artifacts/summary.md; ${link}`)),
  ).rejects.toMatchObject(refused)
  await expect(build(computed('echo printed'))).rejects.toMatchObject(refused)
  expect(await readFile(join(directory, 'elsewhere/summary.md'), 'utf8')).toBe('as it was\n')
})

test('a generator that writes the file may print what it likes, and the same text written again counts as new', async () => {
  const { build } = await placeWith({ 'work/.delta/context_artifacts/summary.md': 'same\n' })
  for (const write of ['echo same > $f', 'cat $f > t; mv t $f', 'touch $f']) {
    const script = `f=.delta/context_artifacts/summary.md; ${write}; echo progress`
    expect((await build(computed(script))).messages).toEqual(block('same\n'))
  }
})

test('last time’s file never passes for new: a generator that succeeds, but neither writes nor prints, makes an empty source', async () => {
  const { build } = await placeWith({ 'work/.delta/context_artifacts/summary.md': 'old\n' })
  const { messages, blocks, warnings } = await build(computed('true'))
  expect(messages).toEqual(block(''))
  expect(blocks[0]).not.toHaveProperty('note')
  expect(warnings).toEqual([])
})

test('nor is it used when the generator fails, whether it wrote or not', async () => {
  const { build } = await placeWith({ 'work/.delta/context_artifacts/summary.md': 'old\n' })
  const script = 'echo half > .delta/context_artifacts/summary.md; echo "no index" >&2; exit 3'
  await expect(build(computed(script))).rejects.toThrow('ended with exit code 3:\nno index')
  await expect(build(computed('echo first >&2; seq 5000 >&2; echo last >&2; exit 3'))).rejects.toThrow(
    /ended with exit code 3:\nfirst\n1\n2\n[\d\s]+\n…\n[\d\s]+\n5000\nlast\n/,
  )

  const { messages, blocks, warnings } = await build(computed(script, { on_missing: 'skip' }))
  expect(messages).toEqual([])
  expect(blocks).toMatchObject([{ note: 'left out: its generator failed' }])
  expect(warnings).toEqual([expect.stringContaining('ended with exit code 3')])
})

test('a generator that hangs is stopped with everything it started', async () => {
  const { build, directory } = await placeWith()
  const [source] = computed('').sources
  const command = ['sh', '-c', 'sleep 300 & echo $! > pid; : > begun; wait']
  const attempt = (timeout_ms: number) =>
    build({ sources: [{ ...source, generator: { command, timeout_ms } }] }).catch((caught) => caught)
  const [error, limitMs] = await tryLimits(attempt, () => existsSync(join(directory, 'work/begun')))
  expect(error.message).toContain(`did not end within ${limitMs} ms (timeout_ms) and was stopped`)
  const pid = Number(await readFile(join(directory, 'work/pid'), 'utf8'))
  expect(isAlive(pid)).toBe(false)
})

test('a generator that cannot be started, floods or writes binary is named', async () => {
  const { build } = await placeWith()
  const attempt = (manifest: unknown) => build(manifest).catch((error: Error) => error.message)
  const missing = {
    type: 'computed_file',
    id: 'm',
    generator: { command: ['no-such-program'] },
    output_path: OUTPUT,
  }
  expect(await attempt({ sources: [missing] })).toMatch(
    /the source "m": the generator no-such-program could not be started: .+/,
  )
  expect(await attempt(computed('head -c 20000000 /dev/zero'))).toContain(
    'printed 20000000 bytes; at most 16777216 are taken',
  )
  expect(await attempt(computed('head -c 10 /dev/zero'))).toContain(
    'is not a text file: it contains NUL bytes.',
  )
})

test('generators do not see the engine’s credentials, unless pass_env says so', async () => {
  const { build, options } = await placeWith()
  const env = { ...options.env, OPENAI_API_KEY: 'sk', OTHER: 'o' }
  const script = 'echo "[$OPENAI_API_KEY] [$OTHER]"'
  expect((await build(computed(script), { env })).messages).toEqual(block('[] [o]\n'))
  const generator = { command: ['sh', '-c', script], pass_env: ['OPENAI_API_KEY'] }
  const { messages } = await build(
    { sources: [{ type: 'computed_file', id: 'summary', generator, output_path: OUTPUT }] },
    { env },
  )
  expect(messages).toEqual(block('[sk] [o]\n'))
})

test.each([
  ['prints it', 'echo "key $OPENAI_API_KEY"', 'key [REDACTED]'],
  ['writes it', 'echo "key $OPENAI_API_KEY" > .delta/context_artifacts/summary.md', 'key [REDACTED]'],
  ['complains of it', 'echo "bad $OPENAI_API_KEY" >&2; exit 1', 'ended with exit code 1:\nbad [REDACTED]'],
])('a key does not leak from a generator that %s', async (_, script, said) => {
  const { build, options, directory } = await placeWith()
  const env = { ...options.env, OPENAI_API_KEY: 'sk-example-not-real' }
  const generator = { command: ['sh', '-c', script], pass_env: ['OPENAI_API_KEY'] }
  const manifest = { sources: [{ type: 'computed_file', id: 'summary', generator, output_path: OUTPUT }] }
  const built = await build(manifest, { env }).catch((error: Error) => error)
  const text = built instanceof Error ? built.message : JSON.stringify(built.messages)
  expect(text).toContain(said)
  expect(text).not.toContain('sk-example')
  const file = await readFile(join(directory, '.delta/context_artifacts/summary.md'), 'utf8').catch(() => '')
  expect(file).not.toContain('sk-example')
})

test('a generator that is an agent of its own gets the key for its model, other commands of delta do not', async () => {
  const { build, options, write, directory } = await placeWith()
  await chmod(await write('bin/delta', '#!/bin/sh\necho "$1 [${DELTA_CREDENTIALS:+keys}]"\n'), 0o755)
  const env = { PATH: `${directory}/bin:${options.env.PATH}` }
  const credentials = { pairs: [], env: { DELTA_API_KEY: 'sk' } }
  for (const [subcommand, key] of [
    ['run', 'keys'],
    ['list-runs', ''],
  ]) {
    const generator = { command: ['delta', subcommand] }
    const source = { type: 'computed_file', id: 'summary', generator, output_path: OUTPUT }
    const { messages } = await build({ sources: [source] }, { env, credentials })
    expect(messages).toEqual(block(`${subcommand} [${key}]\n`))
  }
})

test('stopping the run stops a generator', async () => {
  const { build } = await placeWith()
  const controller = new AbortController()
  const building = build(computed('echo > started; sleep 300'), { signal: controller.signal })
  controller.abort()
  await expect(building).rejects.toMatchObject({ code: 'ERR_CONTEXT_ABORTED' })
})

test('with cache, a generator runs again only when its inputs changed', async () => {
  const { build, write, directory } = await placeWith({
    'work/src/a.py': 'a',
    'work/src/deep/b.py': 'b',
    'work/notes.txt': 'n',
  })
  const manifest = computed('echo run >> count; wc -l < count', {
    cache: { strategy: 'file_hash', invalidate_on: ['src/**/*.py'] },
  })
  const runs = async () => (await readFile(join(directory, 'work/count'), 'utf8')).split('\n').length - 1

  await build(manifest)
  const again = await build(manifest)
  expect(again.messages).toEqual(block('1\n'))
  expect(again.blocks).toMatchObject([{ note: 'from cache' }])
  await write('work/notes.txt', 'changed')
  await utimes(join(directory, 'work/src/a.py'), 1, 1)
  await build(manifest)
  expect(await runs()).toBe(1)

  await write('work/src/deep/b.py', 'changed')
  await build(manifest)
  expect(await runs()).toBe(2)
  await write('work/src/new.py', '')
  await build(manifest)
  expect(await runs()).toBe(3)
  await write('work/.delta/context_artifacts/summary.md', 'tampered')
  expect((await build(manifest)).messages).toEqual(block('4\n'))
  await build(computed('echo other', { cache: { strategy: 'file_hash', invalidate_on: ['src/**/*.py'] } }))
  expect((await stat(join(directory, 'work/.delta/context_artifacts/summary.md.inputs.json'))).isFile()).toBe(
    true,
  )
})

test('what cannot be read does not hold a cache up: a pipe, a device, a link to a directory, a file for one', async () => {
  const { directory, build, write } = await placeWith({ 'work/src/a.py': 'a' })
  const source = join(directory, 'work/src')
  execFileSync('mkfifo', [join(source, 'pipe')])
  await symlink('/dev/zero', join(source, 'endless'))
  await symlink(directory, join(source, 'elsewhere'))
  const manifest = computed('echo run >> count; wc -l < count', {
    cache: { strategy: 'file_hash', invalidate_on: ['src/**', 'src/a.py/**'] },
  })
  await build(manifest)
  expect((await build(manifest)).messages).toEqual(block('1\n'))
  await write('work/src/a.py', 'changed')
  expect((await build(manifest)).messages).toEqual(block('2\n'))
})

test('a file too long to be read is compared by its stamp, and a directory too deep to be named is skipped', async () => {
  const { directory, build } = await placeWith({ 'work/src/long': '' })
  const long = join(directory, 'work/src/long')
  await truncate(long, 3 * 2 ** 30)
  const dig = 'for (let i = 0; i < 60; i++) { fs.mkdirSync("d".repeat(100)); process.chdir("d".repeat(100)) }'
  execFileSync(process.execPath, ['-e', dig], { cwd: join(directory, 'work/src') })
  const manifest = computed('echo run >> count; wc -l < count', {
    cache: { strategy: 'file_hash', invalidate_on: ['src/**'] },
  })
  await build(manifest)
  expect((await build(manifest)).messages).toEqual(block('1\n'))
  await truncate(long, 3 * 2 ** 30 + 1)
  expect((await build(manifest)).messages).toEqual(block('2\n'))
  execFileSync('rm', ['-r', join(directory, 'work/src')]) // node cannot name what is in it
})

test("a pattern for everything leaves the run's own files out: they change with every step", async () => {
  const { build, write } = await placeWith({ 'work/a.py': 'a' })
  const manifest = computed('echo run >> ../count; wc -l < ../count', {
    cache: { strategy: 'file_hash', invalidate_on: ['**/*'] },
  })
  await build(manifest)
  await write('work/.delta/one/journal.jsonl', 'grows')
  expect((await build(manifest)).messages).toEqual(block('1\n'))
})

test('a stop is heeded while the files that a cache depends on are looked at', async () => {
  const { build } = await placeWith({ 'work/src/a.py': 'a' })
  const manifest = computed('echo made', { cache: { strategy: 'file_hash', invalidate_on: ['src/**'] } })
  await build(manifest)
  const controller = new AbortController()
  const building = build(manifest, { signal: controller.signal })
  controller.abort()
  await expect(building).rejects.toMatchObject({
    code: 'ERR_CONTEXT_ABORTED',
    message: expect.stringContaining('stopped while it looked at the files of invalidate_on'),
  })
})
