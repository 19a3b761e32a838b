import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ToolResult } from '../src/index.js'
import type { Credentials } from '../src/internal.js'
import { mediaOf } from '../src/media.js'
import { describeParts, limited } from '../src/output-parts.js'
import { gif, jpeg, pdf, png, webp } from './images.js'
import { call, workspace } from './workspace.js'

/** Calls a tool that prints these bytes. */
async function printing(
  bytes: Buffer | string,
  settings: object,
  context: { secrets?: string[]; credentials?: Credentials; script?: string; kept?: boolean } = {},
): Promise<ToolResult & { path: string }> {
  const { script = 'cat bytes', kept = true, ...others } = context
  const { path } = await workspace({ bytes: '' })
  writeFileSync(join(path, 'bytes'), bytes)
  const where = { cwd: path, ...(kept && { outputPrefix: join(path, 'record') }), ...others }
  return { ...(await call({ command: ['sh', '-c', script], ...settings }, {}, where)), path }
}

const mcp = (content: object[], rest: object = {}) => JSON.stringify({ content, ...rest })
const base64 = (bytes: Buffer) => bytes.toString('base64')
const image = { type: 'image', mediaType: 'image/png', width: 64, height: 48 }

describe('output: image gives the model the picture that the command prints', () => {
  test.each([
    ['PNG', png(64, 48), 'image/png', 64, 48],
    ['JPEG', jpeg, 'image/jpeg', 3, 2],
    ['GIF', gif, 'image/gif', 3, 2],
    ['WebP', webp, 'image/webp', 3, 2],
  ])('%s', async (_name, bytes, mediaType, width, height) => {
    const { status, parts, observation } = await printing(bytes, { output: 'image' })
    expect(status).toBe('SUCCESS')
    expect(parts).toEqual([{ type: 'image', mediaType, width, height, bytes: new Uint8Array(bytes) }])
    expect(observation).toBe(`[image ${mediaType} ${width}x${height}, ${bytes.length} bytes]\n`)
  })

  test('also one that is larger than what a model may read of text, and without a file for its output', async () => {
    const bytes = Buffer.concat([png(64, 48), Buffer.alloc(3_000_000, 7)])
    const { parts } = await printing(bytes, { output: { as: 'image', max_chars: 100 } }, { kept: false })
    const [part] = parts ?? []
    expect(part).toMatchObject(image)
    expect(part?.type === 'image' && bytes.equals(part.bytes)).toBe(true)
  })

  test.each([
    ['text', 'Error: no display\n', 'Its output begins with "Error: no display\\n".'],
    [
      'a PDF',
      pdf,
      'Its output begins with "%PDF-1.4\\n1 0 obj<</Type/Catalog>>endobj\\ntrailer<</Root 1 0 R…".',
    ],
    ['nothing', '', 'It printed nothing.'],
    ['half a header', png(64, 48).subarray(0, 10), 'Its output begins with'],
  ])('%s is an error that quotes how it begins', async (_what, bytes, words) => {
    const { status, parts, observation } = await printing(bytes, { output: 'image' })
    expect([status, parts]).toEqual(['ERROR', undefined])
    expect(observation).toContain(`The tool should print an image. ${words}`)
  })

  test('a command that failed is text, as ever', async () => {
    const result = await printing('no display', { output: 'image' }, { script: 'cat bytes; exit 3' })
    expect(result).toMatchObject({ status: 'FAILED', observation: '[exit code 3]\nno display' })
    expect(result.parts).toBeUndefined()
  })

  test('what the command complains about comes behind the picture', async () => {
    const script = 'cat bytes; echo careful >&2'
    const { parts, observation } = await printing(png(64, 48), { output: 'image' }, { script })
    expect(parts?.at(-1)).toEqual({ type: 'text', text: '[stderr]\ncareful\n' })
    expect(observation).toMatch(/^\[image image\/png 64x48, \d+ bytes\]\n\[stderr\]\ncareful\n$/)
  })

  test('one that is larger than part_bytes is not sent; a line says where it is', async () => {
    const picture = png(64, 48)
    const bytes = Buffer.concat([picture.subarray(0, 60), Buffer.alloc(7_100_000), picture.subarray(60)])
    const { status, parts, observation, path } = await printing(bytes, { output: 'image' })
    expect([status, parts]).toEqual(['SUCCESS', undefined])
    expect(observation).toBe(
      '[image of 7.1 MB not sent: more than output.part_bytes; kept in record.stdout]\n',
    )
    expect(readFileSync(join(path, 'record.stdout')).equals(bytes)).toBe(true)
    const less = await printing(png(64, 48), { output: { as: 'image', part_bytes: 50 } })
    expect(less.observation).toMatch(/^\[image of \d+ bytes not sent: more than output.part_bytes; kept in/)
  })
})

describe('output: file and auto', () => {
  test.each([
    ['auto', 'an image', png(64, 48), { ...image }],
    ['auto', 'a PDF', pdf, { type: 'file', mediaType: 'application/pdf' }],
    ['file', 'a PDF', pdf, { type: 'file', mediaType: 'application/pdf' }],
    ['file', 'an image', png(64, 48), { ...image }],
    ['file', 'text', 'a,b\n1,2\n', { type: 'file', mediaType: 'text/plain' }],
    [
      'file',
      'other bytes',
      Buffer.from([0, 255, 1]),
      { type: 'file', mediaType: 'application/octet-stream' },
    ],
  ])('%s: %s', async (output, _what, bytes, part) => {
    const { parts } = await printing(bytes, { output })
    expect(parts).toEqual([{ ...part, bytes: new Uint8Array(Buffer.from(bytes)) }])
  })

  test.each([
    ['text', 'a picture: PNG\n'],
    ['auto', 'a picture: PNG\n'],
    ['auto', 'GIF89a is a format; it begins so.\n'],
    ['auto', '%PDF- is how a PDF begins.\n'],
    ['auto', 'ID3 tags are in an MP3.\n'],
  ])('%s: text is text: %s', async (output, text) => {
    const result = await printing(text, { output })
    expect(result).toMatchObject({ status: 'SUCCESS', observation: text })
    expect(result.parts).toBeUndefined()
  })

  test.each([
    ['PNG', png(64, 48)],
    ['JPEG', jpeg],
    ['GIF', gif],
    ['WebP', webp],
  ])('auto: the beginning of a %s, as a killed command leaves it, is not an image', async (_name, bytes) => {
    const { parts = [] } = await printing(bytes.subarray(0, -8), { output: 'auto' })
    expect(parts).toEqual([])
  })

  test.each([8, 12, 16, 20, 23])('an image of %i bytes says nothing of the memory behind it', (length) => {
    for (const whole of [png(64, 48), jpeg, gif, webp]) {
      const memory = Buffer.concat([
        whole.subarray(0, length),
        Buffer.from('IEND;\xff\xd9secret-secret-secret', 'latin1'),
      ])
      const media = mediaOf(memory.subarray(0, length))
      expect(media?.width ?? 0).toBeLessThan(70)
    }
  })

  test('auto: an image whose size cannot be read is bytes that are not text', async () => {
    const { parts, observation } = await printing(png(64, 48).subarray(0, 12), { output: 'auto' })
    expect(parts).toBeUndefined()
    expect(observation).toContain('[not UTF-8 text; all 12 bytes are in record.stdout]')
  })
})

describe('output: mcp takes what a tool of the Model Context Protocol returns', () => {
  test('texts and pictures in their order', async () => {
    const bytes = png(64, 48)
    const content = [
      { type: 'text', text: 'before' },
      { type: 'image', data: base64(bytes), mimeType: 'image/jpeg' },
      { type: 'text', text: 'after' },
    ]
    const { status, parts, observation } = await printing(mcp(content), { output: 'mcp' })
    expect(status).toBe('SUCCESS')
    expect(parts).toEqual([
      { type: 'text', text: 'before' },
      { ...image, bytes: new Uint8Array(bytes) },
      { type: 'text', text: 'after' },
    ])
    expect(observation).toBe(`before\n[image image/png 64x48, ${bytes.length} bytes]\nafter`)
  })

  test.each([
    ['a resource with text', { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }, 'inside'],
    [
      'a link, which is never followed',
      { type: 'resource_link', name: 'a', uri: 'https://a.test/x', mimeType: 'text/html' },
      '[link: a, https://a.test/x, text/html]\n',
    ],
    [
      'a block of a later version',
      { type: 'video', data: '' },
      '[video not sent: it is not as MCP describes it]\n',
    ],
    [
      'an image that is none',
      { type: 'image', data: base64(Buffer.from('text')), mimeType: 'image/png' },
      '[image not sent: it is not a whole PNG, JPEG, GIF or WebP]\n',
    ],
    [
      'an empty resource',
      { type: 'resource', resource: { uri: 'a' } },
      '[resource not sent: it has no bytes]\n',
    ],
  ])('%s is text', async (_what, block, text) => {
    const result = await printing(mcp([block]), { output: 'mcp' })
    expect(result).toMatchObject({ status: 'SUCCESS', observation: text })
    expect(result.parts).toBeUndefined()
  })

  test('a resource with bytes, and audio, are files', async () => {
    const wav = Buffer.from('RIFF\0\0\0\0WAVEfmt ')
    const content = [
      { type: 'resource', resource: { uri: 'file:///docs/a.pdf', blob: base64(pdf), mimeType: 'image/png' } },
      { type: 'audio', data: base64(wav), mimeType: 'audio/wav' },
    ]
    const { parts, observation } = await printing(mcp(content), { output: 'mcp' })
    expect(parts).toEqual([
      { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', bytes: new Uint8Array(pdf) },
      { type: 'file', mediaType: 'audio/wav', bytes: new Uint8Array(wav) },
    ])
    expect(observation).toBe(
      `[file application/pdf a.pdf, ${pdf.length} bytes]\n[file audio/wav, 16 bytes]\n`,
    )
  })

  test('structured content counts only where there is no other', async () => {
    const structuredContent = { total: 3 }
    const alone = await printing(mcp([], { structuredContent }), { output: 'mcp' })
    expect(alone.observation).toBe('{"total":3}')
    const beside = await printing(mcp([{ type: 'text', text: 'three' }], { structuredContent }), {
      output: 'mcp',
    })
    expect(beside.observation).toBe('three')
  })

  test('isError is a call that failed', async () => {
    const result = await printing(mcp([{ type: 'text', text: 'no such page' }], { isError: true }), {
      output: 'mcp',
    })
    expect(result).toMatchObject({ status: 'FAILED', exitCode: 0, observation: 'no such page' })
  })

  test('exit code 1 with a result is a failure that the tool itself reports; with anything else it is its output', async () => {
    const ending = (exitCode: number, content: string) =>
      printing(content, { output: 'mcp' }, { script: `cat bytes; exit ${exitCode}` })
    const content = mcp([
      { type: 'text', text: 'no such page' },
      { type: 'image', data: base64(png(2, 2)) },
    ])
    const reported = await ending(1, content)
    expect(reported).toMatchObject({
      status: 'FAILED',
      exitCode: 1,
      parts: [{ type: 'text' }, { type: 'image' }],
    })
    expect(reported.observation).toMatch(/^\[exit code 1\]\nno such page\n\[image image\/png 2x2, /)
    expect(await ending(1, 'oops')).toMatchObject({ status: 'FAILED', observation: '[exit code 1]\noops' })
    expect((await ending(9, content)).observation).toMatch(/^\[exit code 9\]\n\{"content":/)
  })

  test.each([
    ['text', 'hello'],
    ['other JSON', '{"a":1}'],
    ['deeply nested JSON', `{"content":[],"structuredContent":{"a":${'['.repeat(9999)}${']'.repeat(9999)}}}`],
    ['nothing', ''],
  ])('%s is an error', async (_what, printed) => {
    const { status, observation } = await printing(printed, { output: 'mcp' })
    expect(status).toBe('ERROR')
    expect(observation).toContain('The tool should print an MCP result (a JSON object with "content").')
  })

  test('of 21 parts 19 are sent, and a line that says how many are not', async () => {
    const block = { type: 'image', data: base64(png(64, 48)), mimeType: 'image/png' }
    const twenty = await printing(mcp(Array(20).fill(block)), { output: 'mcp' })
    expect(twenty.parts?.map(({ type }) => type)).toEqual(Array(20).fill('image'))
    const more = await printing(mcp(Array(21).fill(block)), { output: 'mcp' })
    expect(more.parts).toHaveLength(20)
    expect(more.parts?.at(-1)).toEqual({ type: 'text', text: '[2 more parts not sent: more than 20]\n' })
  })

  test('one large picture stays out, and the others are sent', async () => {
    const small = { type: 'image', data: base64(png(64, 48)), mimeType: 'image/png' }
    const large = { ...small, data: base64(Buffer.concat([png(64, 48), Buffer.alloc(60_000)])) }
    const { parts } = await printing(mcp([large, small]), { output: { as: 'mcp', part_bytes: 50_000 } })
    expect(parts?.map(({ type }) => type)).toEqual(['text', 'image'])
    expect(parts?.[0]).toEqual({
      type: 'text',
      text: '[image of 60 kB not sent: more than output.part_bytes; kept in record.stdout]\n',
    })
  })

  test('long text is cut as that of other tools', async () => {
    const { observation } = await printing(mcp([{ type: 'text', text: 'x'.repeat(50_000) }]), {
      output: { as: 'mcp', max_chars: 100 },
    })
    expect(observation).toMatch(
      /^x{50}\n\[49900 bytes left out here; the whole output is in record.stdout\]\nx{50}$/,
    )
  })
})

describe('Secrets', () => {
  const credentials = { pairs: [], env: { DEPLOY_API_KEY: 'hunter2-hunter2' } }

  test('are replaced in texts and quotations, and control sequences are shown', async () => {
    const text = 'the key is hunter2-hunter2 \u001b[31m'
    const { observation } = await printing(mcp([{ type: 'text', text }]), { output: 'mcp' }, { credentials })
    expect(observation).toBe('the key is [REDACTED] \\x1b[31m')
    const quoted = await printing(text, { output: 'image' }, { credentials })
    expect(quoted.observation).toContain('begins with "the key is [REDACTED]')
  })

  test.each([
    ['output: file', 'key: s3cr3t-value\n', 'file'],
    [
      'an MCP resource',
      mcp([{ type: 'resource', resource: { uri: '', blob: base64(Buffer.from('key: s3cr3t-value\n')) } }]),
      'mcp',
    ],
  ])('are replaced in a file that is text: %s', async (_name, printed, output) => {
    const { parts = [] } = await printing(
      printed,
      { output },
      { credentials: { pairs: [], env: { OPENAI_API_KEY: 's3cr3t-value' } } },
    )
    const [part] = parts
    expect(part).toMatchObject({ type: 'file', mediaType: 'text/plain' })
    expect(part).not.toHaveProperty('name')
    expect(part?.type === 'file' && Buffer.from(part.bytes).toString()).toBe('key: [REDACTED]\n')
  })

  test('in the bytes of a picture stay; only what a person entrusted is replaced before it touches the disk', async () => {
    const bytes = Buffer.concat([png(64, 48), Buffer.from('hunter2-hunter2')])
    const passed = await printing(bytes, { output: 'image' }, { credentials })
    expect(passed.parts).toEqual([{ ...image, bytes: new Uint8Array(bytes) }])
    const piped = await printing(bytes, { output: 'image' }, { secrets: ['hunter2-hunter2'] })
    const sent = piped.parts?.[0]
    expect(sent?.type === 'image' && Buffer.from(sent.bytes).toString('latin1')).toMatch(/\[REDACTED\]$/)
  })
})

/** The least processor time of three attempts. */
function costOf(work: () => void): number {
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    work()
    return process.cpuUsage(before).user
  })
  return Math.min(...costs)
}

describe('However much a tool prints', () => {
  test('only the first 10000 parts of an MCP result are read, and its first line says so', async () => {
    const content = Array(10_003).fill({ type: 'text', text: 'x' })
    const { observation, path } = await printing(mcp(content), { output: 'mcp' })
    const file = relative(path, join(path, 'record.stdout'))
    expect(observation.slice(0, 90)).toContain(
      `[the last 3 parts not sent: more than 10000; kept in ${file}]\nx\nx\n`,
    )
  })

  test('each of its texts costs what one of few does', () => {
    const cost = (count: number) => {
      const parts = Array(count).fill({ type: 'text', text: 'x' })
      return costOf(() => describeParts(limited(parts, '')))
    }
    // 8 times, and 64 if the text grew by one after the other; a clock may be as coarse as 4 ms
    expect(cost(80_000)).toBeLessThan(Math.max(cost(10_000), 4000) * 24)
  })

  test('a JSON of more values than any result has is not parsed', async () => {
    const { status, observation } = await printing(`{"content":[${'{},'.repeat(1_000_001)}{}]}`, {
      output: 'mcp',
    })
    expect([status, observation]).toEqual(['ERROR', expect.stringContaining('should print an MCP result')])
  })

  test('the size of a JPEG is found behind a million segments, at no more than a few looks at each of its bytes', () => {
    const segments = Buffer.alloc(4_000_000, Buffer.from('ffe10002', 'hex'))
    const bytes = Buffer.concat([jpeg.subarray(0, 2), segments, jpeg.subarray(2)])
    expect(mediaOf(bytes)).toMatchObject({ mediaType: 'image/jpeg', width: 3, height: 2 })
    const look = costOf(() => bytes.reduce((sum, byte) => sum ^ byte))
    expect(costOf(() => mediaOf(bytes))).toBeLessThan(3 * look)
  })
})
