import { chmod, symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { history, journalText, placeWith } from './place.js'

const OUTPUT = '${CWD}/.delta/context_artifacts/summary.md'
const block = (text: string, id = 'summary') => [
  { role: 'system', content: `# Context Block: ${id}\n\n${text}` },
]

test('sources are sent in their order, texts as system messages under a header', async () => {
  const run = history()
  run.user('Go.')
  const { build } = await placeWith({
    'agent/system_prompt.md': 'You count.\n',
    'work/DELTA.md': 'Use make.\n',
    'work/.delta/r1/journal.jsonl': journalText(run.events),
  })
  const { messages, blocks, warnings } = await build({
    sources: [
      { type: 'file', id: 'system_prompt', path: '${AGENT_HOME}/system_prompt.md' },
      { type: 'file', path: '${CWD}/DELTA.md' },
      { type: 'journal' },
    ],
  })
  expect(messages).toEqual([
    { role: 'system', content: '# Context Block: system_prompt\n\nYou count.\n' },
    { role: 'system', content: '# Context Block: DELTA.md\n\nUse make.\n' },
    { role: 'user', content: 'Go.' },
  ])
  expect(warnings).toEqual([])
  expect(blocks[0]).toEqual({
    source_id: 'system_prompt',
    type: 'file',
    messages: 1,
    message: 0,
    from: 0,
    to: Buffer.byteLength('# Context Block: system_prompt\n\nYou count.\n'),
    header_bytes: Buffer.byteLength('# Context Block: system_prompt\n\n'),
    bytes: Buffer.byteLength(JSON.stringify(messages[0])),
    tokens: Math.ceil(Buffer.byteLength(JSON.stringify(messages[0])) / 4),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

test('a missing file stops the run, and the message names source, path and the way out', async () => {
  const { build, directory } = await placeWith()
  await expect(
    build({ sources: [{ type: 'file', id: 'guide', path: '${CWD}/DELTA.md' }] }),
  ).rejects.toMatchObject({
    code: 'ERR_CONTEXT_SOURCE',
    source: 'guide',
    message: `context.yaml: the source "guide": ${directory}/work/DELTA.md does not exist.
Create the file, or say that it may be missing: on_missing: skip`,
  })
})

test('a link in the workspace that leads out of it is not followed, and one that stays in it is', async () => {
  const { build, directory } = await placeWith({ 'secret.txt': 'SECRET', 'work/in.md': 'Inside.\n' })
  await symlink(join(directory, 'secret.txt'), join(directory, 'work/out.md'))
  await symlink(directory, join(directory, 'work/up'))
  await symlink('in.md', join(directory, 'work/within.md'))
  for (const path of ['out.md', 'up/secret.txt']) {
    const source = { type: 'file', path: `\${CWD}/${path}` } as const
    const why = `${directory}/work/${path} is a link that leads out of the workspace, to ${directory}/secret.txt.`
    await expect(build({ sources: [source] })).rejects.toMatchObject({
      code: 'ERR_CONTEXT_SOURCE',
      message: `context.yaml: the source "${path}": ${why}\nA tool may have made it. Copy the file into the workspace, or name it by its own path.`,
    })
    const { messages, warnings } = await build({ sources: [{ ...source, on_missing: 'skip' }] })
    expect(messages).toEqual([])
    expect(warnings).toEqual([`context.yaml: the source "${path}": ${why}`])
  }
  const { messages } = await build({ sources: [{ type: 'file', id: 'summary', path: '${CWD}/within.md' }] })
  expect(messages).toEqual(block('Inside.\n'))
})

test('on_missing: skip leaves the source out, and the record says so', async () => {
  const { build } = await placeWith()
  const { messages, blocks, warnings } = await build({
    sources: [{ type: 'file', path: '${CWD}/DELTA.md', on_missing: 'skip' }],
  })
  expect({ messages, warnings }).toEqual({ messages: [], warnings: [] })
  expect(blocks).toMatchObject([{ source_id: 'DELTA.md', messages: 0, bytes: 0, note: 'left out: missing' }])
})

test('a source that cannot be used is refused by name, with what to do', async () => {
  const { build, write, directory } = await placeWith({ 'work/plain': 'x', 'work/huge': '' })
  const attempt = (source: object) =>
    build({ sources: [{ id: 's', ...source }] }).catch((error: Error) => error.message)
  const at = `context.yaml: the source "s": ${directory}/work`
  await write('work/binary', new Uint8Array([65, 0, 66]))
  await write('work/latin1', new Uint8Array([99, 97, 102, 0xe9]))
  await truncate(join(directory, 'work/huge'), 16 * 1024 * 1024 + 1)
  const another = 'Name a text file, or extract what the model needs with a computed_file.'
  for (const [name, expected] of [
    ['binary', `is not a text file: it contains NUL bytes.\n${another}`],
    ['latin1', `is not UTF-8 text.\n${another}`],
    ['huge', `is larger than 16 MB.\n${another}`],
    ['.delta', 'is a directory, not a file.\nName a file in it.'],
  ])
    expect(await attempt({ type: 'file', path: `\${CWD}/${name}` })).toBe(`${at}/${name} ${expected}`)

  const writing = (output_path: string, command = ['echo', 'x']) =>
    attempt({ type: 'computed_file', generator: { command }, output_path })
  for (const path of ['plain/x.md', '.delta', '/proc/x.md', '/proc/none/x.md'])
    expect(await writing(path)).toMatch(
      /^context\.yaml: the source "s": output_path \S+ cannot be written \(.+\)\. Name a file that can\nTo go on without it: on_missing: skip$/,
    )
  expect(await writing('new', ['head', '-c', '9', '/dev/zero'])).toBe(
    `${at}/new is not a text file: it contains NUL bytes.\nFix its generator, or go on without it: on_missing: skip`,
  )
})

test.skipIf(process.getuid?.() === 0)('a file that may not be read is refused with what to do', async () => {
  const { build, write } = await placeWith()
  await chmod(await write('work/secret', 'x'), 0)
  await expect(build({ sources: [{ type: 'file', id: 's', path: '${CWD}/secret' }] })).rejects.toThrow(
    /secret cannot be read: EACCES: permission denied.*\.\nChange its permissions, or name another file\.$/,
  )
})

test('paths may be absolute, or relative to the agent', async () => {
  const { build, directory } = await placeWith({ 'agent/prompt.md': 'Hi.' })
  for (const path of [join(directory, 'agent/prompt.md'), 'prompt.md', './prompt.md']) {
    expect((await build({ sources: [{ type: 'file', id: 'p', path }] })).messages).toEqual(block('Hi.', 'p'))
  }
})

test('a file that two sources name is read again, and so is what a generator between them has changed', async () => {
  const { build, write } = await placeWith()
  await write('work/notes.md', 'old')
  const notes = { type: 'file', path: '${CWD}/notes.md' }
  const generator = { command: ['sh', '-c', 'printf new > notes.md; echo done'] }
  const computed = { type: 'computed_file', generator, output_path: OUTPUT }
  const { messages } = await build({ sources: [notes, computed, notes] })
  expect(messages.map(({ content }) => String(content).split('\n').at(-1))).toEqual(['old', '', 'new'])
})

test('with a variable that is a relative path nothing is built, and the variable is named', async () => {
  const { build, options } = await placeWith()
  const variables = { ...options.variables, CWD: 'work' }
  await expect(build({ sources: [{ type: 'journal' }] }, { variables })).rejects.toMatchObject({
    code: 'ERR_CONTEXT_USAGE',
    message: 'The variable CWD must be an absolute path, not work.',
  })
})

describe('a condition', () => {
  const task = { when: 'task_contains', pattern: 'API|endpoint' }
  const slow = { when: 'task_contains', pattern: '(a+)+$' }
  const count = { when: 'iteration_at_least', count: 3 }
  const variable = { when: 'env_set', name: 'VERBOSE' }

  async function blockIf(condition: object, options: object = {}) {
    const { build } = await placeWith({ 'agent/a.md': 'A', 'work/api.md': '' })
    const { blocks } = await build({ sources: [{ type: 'file', path: 'a.md', condition }] }, options)
    return blocks[0]
  }

  test.each<[object, object, boolean]>([
    [task, { task: 'Document the api.' }, true],
    [task, { task: 'Count.' }, false],
    [slow, { task: `"it's\n\u2028\` aaa` }, true],
    [{ when: 'file_exists', path: '${CWD}/api.md' }, {}, true],
    [{ when: 'file_exists', path: 'api.md' }, {}, true],
    [{ when: 'file_exists', path: '${AGENT_HOME}/api.md' }, {}, false],
    [variable, { env: { VERBOSE: '1' } }, true],
    [variable, { env: { VERBOSE: '' } }, false],
    [count, { iteration: 2 }, false],
    [count, { iteration: 3 }, true],
  ])('%j with %j holds: %j', async (condition, options, holds) => {
    const { when } = condition as { when: string }
    const expected = holds ? { messages: 1 } : { messages: 0, note: `left out: ${when} does not hold` }
    expect(await blockIf(condition, options)).toMatchObject(expected)
  })

  test('with a pattern that takes too long is an error, and not the end of everything', async () => {
    await expect(blockIf(slow, { task: `${'a'.repeat(60)}!` })).rejects.toThrow(
      'context.yaml: the pattern (a+)+$ took longer than 1000 ms to search 61 characters.\nWrite one repetition: [ab]+ for (a+|b+)+.',
    )
  })
})
