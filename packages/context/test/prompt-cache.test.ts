import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChatMessage } from '@delta/model'
import { textOf } from '@delta/model/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BuiltContext, safeParseManifest } from '../src/index.js'
import { bytesOfMedia } from '../src/internal.js'
import { history, placeWith } from './place.js'

const text = (words: string, more: object = {}) => ({ type: 'text', text: words, header: false, ...more })
const JOURNAL = { type: 'journal', prompt_cache: true }

/** What the record says of each text, read from the text of its message. */
const ranges = ({ messages, blocks }: BuiltContext) =>
  blocks.map(({ message, from, to }) =>
    Buffer.from(textOf(messages[message ?? -1]?.content ?? null)).toString('utf8', from, to),
  )

test('a source with prompt_cache ends a cacheable prefix, and its line in the account says where', async () => {
  const { build } = await placeWith()
  const run = history()
  run.user('Go.')
  run.iteration('I look.', 'a')
  const sources = [text('You count.', { prompt_cache: '1h' }), text('Now.'), JOURNAL]
  const { messages, blocks } = await build({ sources }, { journalPath: run.events })
  expect(messages.map(({ prompt_cache }) => prompt_cache)).toEqual([
    '1h',
    undefined,
    undefined,
    undefined,
    true,
  ])
  expect(blocks.map(({ note }) => note)).toEqual([
    'prompt_cache 1h at its end',
    undefined,
    'prompt_cache at its end',
  ])
})

test('an answer of the model and an empty text pass the breakpoint to the message before, or to the part before', async () => {
  const { build } = await placeWith()
  const run = history()
  run.user('Go.')
  run.iteration('I look.', 'a')
  run.thought('Done.')
  const journalOf = async () => {
    const { messages, blocks } = await build({ sources: [JOURNAL] }, { journalPath: run.events })
    return [messages.findIndex((message) => 'prompt_cache' in message), blocks[0]?.note]
  }
  expect(await journalOf()).toEqual([2, 'prompt_cache after message 3 of its 4'])
  run.user(' \n')
  expect(await journalOf()).toEqual([2, 'prompt_cache after message 3 of its 5'])
  const parts = [
    { type: 'text', text: 'See.' },
    { type: 'text', text: '' },
  ]
  run.add({ type: 'USER_MESSAGE', content: parts })
  const { messages } = await build({ sources: [JOURNAL] }, { journalPath: run.events })
  expect(messages.at(-1)?.content).toEqual([{ ...parts[0], prompt_cache: true }, parts[1]])
})

test('a source in which nothing can carry a breakpoint says so; one that was left out has none', async () => {
  const { build } = await placeWith()
  const missing = { type: 'file', path: '${CWD}/no.md', on_missing: 'skip', prompt_cache: true }
  const sources = [text('First.'), missing, text('\n', { prompt_cache: true, role: 'user' }), JOURNAL]
  const { messages, blocks } = await build({ sources })
  expect(JSON.stringify(messages)).not.toContain('prompt_cache')
  const none = 'no prompt_cache: nothing in it can carry a breakpoint'
  expect(blocks.map(({ note }) => note)).toEqual([undefined, 'left out: missing', none, none])
})

test('a text that max_tokens cuts has the breakpoint where its kept beginning ends', async () => {
  const { build } = await placeWith()
  const { messages, blocks } = await build({
    sources: [text('Words. '.repeat(500), { max_tokens: 100, prompt_cache: true })],
  })
  expect(messages[0]).toMatchObject({ content: expect.stringContaining('[cut here'), prompt_cache: true })
  expect(blocks[0]?.note).toMatch(/^cut from \d+ to \d+ tokens \(max_tokens\); prompt_cache at its end$/)
})

test('a merged message with a breakpoint in its middle is one part for each source, with the bytes of the one text', async () => {
  const { build } = await placeWith()
  const sources = (mark: object) => [text('One.'), text('Zwölf.\n', mark), text('Three.')]
  const plain = await build({ merge: true, sources: sources({}) })
  const marked = await build({ merge: true, sources: sources({ prompt_cache: true }) })
  expect(marked.messages).toEqual([
    {
      role: 'system',
      content: [
        { type: 'text', text: 'One.\n\n' },
        { type: 'text', text: 'Zwölf.\n\n', prompt_cache: true },
        { type: 'text', text: 'Three.' },
      ],
    },
  ])
  expect(plain.messages).toEqual([{ role: 'system', content: 'One.\n\nZwölf.\n\nThree.' }])
  expect(ranges(marked)).toEqual(['One.', 'Zwölf.\n', 'Three.'])
  expect(marked.blocks[1]?.note).toBe('prompt_cache at its end; in one message with text')
  const sizes = marked.blocks.map(({ bytes }) => bytes)
  expect(sizes.reduce((sum, one) => sum + one)).toBe(Buffer.byteLength(JSON.stringify(marked.messages[0])))
})

test('whatever the sources: their parts add up to the text that they are without prompt_cache, and none is empty', async () => {
  const { build } = await placeWith()
  const words = fc.oneof(
    fc.constantFrom(' ', '\n', '\n\n', 'a\n', 'b\n\n\n', 'ä'),
    fc.string({ minLength: 1 }).map((any) => any.replaceAll('$', '%')), // no variables
  )
  const source = fc.record({ words, role: fc.constantFrom('system', 'user'), isMarked: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(source, { minLength: 1, maxLength: 6 }), fc.boolean(), async (list, merge) => {
      const marks = list.filter(({ isMarked }) => isMarked).slice(0, 4)
      const sourcesOf = (isOn: boolean) =>
        list.map((one) =>
          text(one.words, {
            role: one.role,
            ...(isOn && marks.includes(one) && { prompt_cache: true }),
          }),
        )
      const plain = await build({ merge, sources: sourcesOf(false) })
      const marked = await build({ merge, sources: sourcesOf(true) })
      expect(marked.messages.map(({ role, content }) => [role, textOf(content)])).toEqual(
        plain.messages.map(({ role, content }) => [role, content]),
      )
      expect(ranges(marked)).toEqual(ranges(plain))
      expect(marked.blocks.map(({ sha256 }) => sha256)).toEqual(plain.blocks.map(({ sha256 }) => sha256))
      for (const { content } of marked.messages)
        if (typeof content !== 'string' && content)
          for (const part of content)
            if (part.type === 'text' && content.length > 1) expect(part.text.trim()).not.toBe('')
    }),
    { numRuns: 200 },
  )
})

test('prompt_cache is true or 1h, on at most four sources', () => {
  const parsed = (sources: object[]) => {
    const result = safeParseManifest({ sources })
    return result.ok ? [] : result.problems.map(({ path, message, hint }) => [path, message, hint])
  }
  const ids = ['system', 'guide', 'docs', 'plan']
  const four = ids.map((id) => text('x', { id, prompt_cache: true }))
  expect(parsed([...four, { type: 'journal' }])).toEqual([])
  expect(parsed([...four, JOURNAL])).toEqual([
    [
      'sources',
      'prompt_cache on 5 sources (system, guide, docs, plan, journal); providers take 4',
      'Remove one.',
    ],
  ])
  expect(parsed([text('x', { prompt_cache: '2h' })])[0]?.[1]).toBe('must be one of true, 1h, got "2h"')
  const image = { type: 'file', path: '${CWD}/a.png', as: 'image' }
  expect(parsed([{ ...image, role: 'user' }, image])).toEqual([])
  expect(parsed([{ ...image, role: 'system' }])).toEqual([
    [
      'sources[0].role',
      'must be user, because as: image sends no text; got "system"',
      'Write role: user, or remove role.',
    ],
  ])
})

/** A transparent pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function placeWithImage() {
  const place = await placeWith({ 'agent/one.md': 'Text.' })
  await writeFile(join(place.directory, 'agent/logo.png'), PNG)
  await writeFile(join(place.directory, 'agent/paper.pdf'), '%PDF-1.7\n%…')
  return place
}
const file = (path: string, more: object) => ({ type: 'file', path: `\${AGENT_HOME}/${path}`, ...more })

test('as: image sends an image of the user below its header, and as: file a PDF; their bytes are kept under their SHA-256', async () => {
  const { build } = await placeWithImage()
  const kept: Uint8Array[] = []
  const writeBlob = (bytes: Uint8Array) => `${kept.push(bytes)}. blob`
  const sources = [
    file('logo.png', { as: 'image' }),
    file('paper.pdf', { as: 'file', header: false, prompt_cache: true }),
  ]
  const { messages, blocks } = await build({ sources }, { writeBlob })
  expect(kept).toEqual([PNG, Buffer.from('%PDF-1.7\n%…')])
  expect(messages).toMatchObject([
    {
      role: 'user',
      content: [
        { type: 'text', text: '# Context Block: logo.png\n\n' },
        { type: 'image', blob: '1. blob', media_type: 'image/png', bytes: PNG.length, name: 'logo.png' },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'file', blob: '2. blob', media_type: 'application/pdf', prompt_cache: true }],
    },
  ])
  expect(blocks.map(({ note }) => note)).toEqual([undefined, 'prompt_cache at its end'])
  const dry = await build({ sources })
  expect(JSON.stringify(dry.messages)).toContain(sha256(PNG))
})

test('images and texts of one role merge into the parts of one message', async () => {
  const { build } = await placeWithImage()
  const sources = [
    text('See:', { role: 'user' }),
    file('logo.png', { as: 'image', header: false }),
    text('Why?', { role: 'user' }),
  ]
  const { messages, blocks } = await build({ merge: true, sources })
  expect(messages).toMatchObject([{ content: [{ text: 'See:' }, { type: 'image' }, { text: 'Why?' }] }])
  expect(blocks.map(({ from, to }) => [from, to])).toEqual([
    [0, 4],
    [4, 4],
    [4, 8],
  ])
})

test('a text as an image is refused, and so is an image of more than 5 MB; a file is left out and never cut', async () => {
  const { build, directory } = await placeWithImage()
  const sources = [file('one.md', { as: 'image' })]
  await expect(build({ sources })).rejects.toMatchObject({
    code: 'ERR_CONTEXT_SOURCE',
    source: 'one.md',
    message: expect.stringMatching(
      /^context\.yaml, sources\[0\]: one\.md is not an image \(PNG, JPEG, GIF, WebP\)\.\n/,
    ),
  })
  const skipped = await build({ sources: [file('one.md', { as: 'image', on_missing: 'skip' })] })
  expect(skipped).toMatchObject({ messages: [], blocks: [{ note: 'left out: unusable' }] })
  expect(skipped.warnings).toEqual([
    'context.yaml, sources[0]: one.md is not an image (PNG, JPEG, GIF, WebP).',
  ])
  await writeFile(join(directory, 'agent/huge.png'), Buffer.concat([PNG, Buffer.alloc(5_000_000)]))
  const huge = build({ sources: [file('huge.png', { as: 'image' })] })
  await expect(huge).rejects.toThrow(`${directory}/agent/huge.png is larger than 5 MB.\nMake it smaller.`)
  const limited = await build({ sources: [file('paper.pdf', { as: 'file', max_tokens: 5 })] })
  expect(limited.blocks[0]?.note).toMatch(/^left out: max_tokens 5 is too few for its \d+/)
})

const picture = (width: number | undefined, bytes = 3_000_000) => ({
  type: 'image' as const,
  blob: 'a'.repeat(64),
  media_type: 'image/png',
  bytes,
  ...(width !== undefined && { width, height: 500 }),
})

test('an image costs a token for 750 pixels, at most 1,600; a file by its bytes; the items of an answer count once', async () => {
  const { build } = await placeWith()
  const tokensOf = async (content: unknown, options: object = {}) => {
    const run = history()
    run.add({ type: 'USER_MESSAGE', content })
    return (
      (await build({ sources: [{ type: 'journal' }] }, { journalPath: run.events, ...options })).blocks[0]
        ?.tokens ?? 0
    )
  }
  const none = await tokensOf([])
  for (const [part, tokens] of [
    [picture(600), 400],
    [picture(60_000), 1600],
    [picture(undefined), 1600],
    [{ ...picture(undefined, 60_000), type: 'file', media_type: 'application/pdf' }, 3000],
    [{ ...picture(undefined, 400), type: 'file', media_type: 'text/plain' }, 100],
  ] as const) {
    expect((await tokensOf([part])) - none).toBe(tokens)
    expect((await tokensOf([part], { countTokens: (texts: string[]) => texts.map(() => 1) })) - 5).toBe(
      tokens,
    )
  }
  const calibration = { tokens: 1000, bytes: 2000 } // an image is calibrated like text
  expect((await tokensOf([picture(600)], { calibration })) - (await tokensOf([], { calibration }))).toBe(800)
  expect(bytesOfMedia([{ role: 'user', content: [picture(600)] }])).toBe(1600)

  const words = 'x'.repeat(4000)
  const answerTokens = async (message: object) => {
    const run = history()
    run.thought(words, [], { message })
    return (
      (await build({ sources: [{ type: 'journal' }] }, { journalPath: run.events })).blocks[0]?.tokens ?? 0
    )
  }
  const plain = await answerTokens({ role: 'assistant', content: words })
  const items = (thinking: string) => ({
    api: 'messages',
    list: [
      { type: 'thinking', thinking },
      { type: 'text', text: words },
    ],
  })
  const whole = await answerTokens({ role: 'assistant', content: words, items: items('y'.repeat(400)) })
  expect(whole - plain).toBeGreaterThan(100)
  expect(whole - plain).toBeLessThan(150)
})

test('images of the last results are left out first to stay within the budget, with a note in their place', async () => {
  const { build } = await placeWith()
  const run = history()
  run.user('Look.')
  run.thought('', [{ id: 'a', action_id: 'a' }])
  const parts = [{ type: 'text', text: 'Two pictures.' }, picture(undefined), picture(undefined)]
  run.add({
    type: 'ACTION_RESULT',
    iteration: 1,
    action_id: 'a',
    tool_name: 'shot',
    status: 'SUCCESS',
    observation_content: 'x',
    parts,
  })
  const manifest = (total_max_tokens: number) => ({ total_max_tokens, sources: [{ type: 'journal' }] })
  const resultOf = async (tokens: number): Promise<ChatMessage['content'] | undefined> =>
    (await build(manifest(tokens), { journalPath: run.events })).messages.at(-1)?.content
  expect(await resultOf(4000)).toEqual(parts)
  expect(await resultOf(1000)).toMatch(
    /^Two pictures\.(\n\[image image\/png left out to stay within the token budget\]\n){2}$/,
  )
})
