import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { safeDefineTool } from '@delta/executor'
import { callMcpTool, describeReview, importMcpServer, readServerFile, reviewServer } from '@delta/mcp'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { openDesk, SERVER } from './helpers.js'

test('an import is a file of tools, with what the server declares and a hash of what it says', async () => {
  const { path: cwd } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const { path, text, tools, leftOut, info } = await importMcpServer(
    { command: SERVER, passEnv: ['DESK_TOKEN'] },
    { cwd },
  )
  expect(path).toBe(join(cwd, 'desk.yaml'))
  expect(info).toMatchObject({ name: 'tests/desk', version: '3.1' })
  expect(leftOut).toEqual([{ name: 'later', reason: 'needs tasks' }])
  expect(text).toContain(
    '# written by delta mcp import; review it, it is part of your agent\n\nmcp: { name: desk, command: [',
  )
  expect(tools.map(({ name, effects }) => [name, effects])).toEqual([
    ['desk_count', { filesystem: { write: false, delete: false }, destructive: false }],
    ['desk_add', undefined],
    ['desk_env', undefined],
    ['desk_fail', { destructive: true }],
    ['desk_end', undefined],
    ['desk_wait', undefined],
    ['desk_structured', undefined],
  ])
  for (const tool of tools) expect(safeDefineTool(tool)).toMatchObject({ ok: true, warnings: [] })
  expect(text).toContain(`
  - name: desk_add
    description: Adds.
    input_schema: { type: object, properties: { a: { type: number } }, required: [ a ] }
    exec: delta mcp call \${TOOL_HOME}/desk.yaml add
    stdin: json
    output: mcp
    trust: community
    x-mcp: { tool: add, sha256: ${tools[1]?.['x-mcp'].sha256} }
`)
})

test('what cannot be a tool is left out with the reason, and a long description is cut', async () => {
  const { path: cwd } = await temporaryWorkspace(
    {
      'tools.json': JSON.stringify({
        'a b': {},
        'x.y': {},
        'x/y': { description: 'too' },
        count: { description: `\u001b[2J${'long '.repeat(1000)}` },
        add: {
          description: 'Ad\u200bds\u{e0041}.',
          inputSchema: {
            type: 'object',
            properties: {
              description: {
                type: 'string',
                title: 'a\u200b',
                description: 'x'.repeat(2000),
                enum: ['\u200b'],
              },
            },
          },
        },
      }),
    },
    { onCleanup: onTestFinished },
  )
  const { tools, leftOut } = await importMcpServer({ command: SERVER, name: 'd' }, { cwd })
  expect(leftOut).toEqual([
    { name: 'later', reason: 'needs tasks' },
    { name: 'a b', reason: 'its name cannot be a word of a command' },
    { name: 'x/y', reason: 'would be d_x_y, as x.y is' },
  ])
  expect(tools[0]?.description).toMatch(/^\\x1b\[2Jlong long .*…$/)
  expect(tools[0]?.description).toHaveLength(1024)
  expect(tools[1]?.description).toBe('Ad\\u{200b}ds\\u{e0041}.')
  expect(tools[1]?.input_schema).toMatchObject({
    properties: {
      description: { title: 'a\\u{200b}', description: `${'x'.repeat(1023)}…`, enum: ['\u200b'] },
    },
  })
})

test('a review shows changed words, and accepting them keeps what a person wrote into the file', async () => {
  const desk = await openDesk()
  const own = readFileSync(desk.path, 'utf8')
    .replace('  - name: desk_add\n', '  # mine\n  - name: desk_add\n    sandbox: true\n')
    .replace('description: Fails.', 'description: Always fails.')
  writeFileSync(desk.path, own)
  expect(describeReview(await reviewServer(desk.path, { cwd: desk.directory }))).toBe('')

  desk.change({
    add: {
      description: 'Adds one.',
      inputSchema: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
    },
    end: null,
    fresh: { description: 'New here.' },
  })
  const review = await reviewServer(desk.path, { cwd: desk.directory })
  expect(describeReview(review)).toBe(`desk_add changed (description, input_schema)
  Adds{+ one+}.
  {
    "type": "object",
    "properties": {
      "a": {
        "type": "[-number-]{+integer+}"
      }
    },
    "required": [
      "a"
    ]
  }

desk_fresh is new
  New here.

end is gone
`)
  writeFileSync(desk.path, review.text)
  expect(review.text).toContain(
    '  # mine\n  - name: desk_add\n    sandbox: true\n    description: Adds one.\n',
  )
  expect(review.text).toContain('description: Always fails.')
  expect([...readServerFile(desk.path).tools.keys()]).toEqual([
    'count',
    'add',
    'env',
    'fail',
    'wait',
    'structured',
    'fresh',
  ])
  expect(describeReview(await reviewServer(desk.path, { cwd: desk.directory }))).toBe('')
})

test('effects that a server declares anew are a change, and those that a person wrote over them stay', async () => {
  const desk = await openDesk()
  const own = readFileSync(desk.path, 'utf8').replace(
    'effects: { destructive: true }\n',
    'effects: { network: false }\n',
  )
  writeFileSync(desk.path, own)
  const here = { cwd: desk.directory }
  expect(describeReview(await reviewServer(desk.path, here))).toBe('')
  desk.change({
    count: { annotations: { destructiveHint: true } },
    add: { annotations: { readOnlyHint: true } },
    fail: { annotations: { destructiveHint: false } },
    env: { annotations: { title: 'Environment' } }, // not an effect
  })
  await expect(callMcpTool(desk.file(), 'count', {}, here)).rejects.toMatchObject({
    code: 'ERR_MCP_CHANGED',
    message: expect.stringContaining('desk_count changed since it was imported (effects).'),
  })
  const review = await reviewServer(desk.path, here)
  const readOnly = '{"filesystem":{"write":false,"delete":false},"destructive":false}'
  expect(describeReview(review)).toBe(`desk_count changed (effects)
  effects that the server declares: ${readOnly} -> {"destructive":true}

desk_add changed (effects)
  effects that the server declares: none -> ${readOnly}

desk_fail changed (effects)
  effects that the server declares: {"destructive":true} -> {"destructive":false}
  The effects that you wrote stay: {"network":false}
`)
  writeFileSync(desk.path, review.text)
  const [count, add, , fail] = [...readServerFile(desk.path).tools.values()]
  expect([count?.effects, fail?.effects]).toEqual([{ destructive: true }, { network: false }])
  expect(add?.effects).toEqual(add?.declaredEffects)
  expect((await reviewServer(desk.path, here)).text).toBe(review.text)
  expect(await callMcpTool(desk.file(), 'fail', {}, here)).toMatchObject({ isError: true })
})

test('a file that is not a server file is refused with every problem', async () => {
  const { path } = await temporaryWorkspace(
    {
      'tools.yaml': 'tools: []\n',
      'wrong.yaml': 'mcp: { name: a b, comand: [x], timeout_ms: -1 }\n',
      'both.yaml': 'mcp: { name: x, command: [x], url: "http://x" }\n',
      'broken.yaml': 'mcp: [\n',
      'bomb.yaml': `a: &a [x]\nb: &b [${'*a,'.repeat(99)}]\nc: &c [${'*b,'.repeat(99)}]\nmcp: [${'*c,'.repeat(99)}]\n`,
    },
    { onCleanup: onTestFinished },
  )
  const problemOf = (name: string) => {
    try {
      return readServerFile(join(path, name))
    } catch (error) {
      return (error as Error).message.replaceAll(`${path}/`, '')
    }
  }
  expect(problemOf('missing.yaml')).toBe(
    'missing.yaml does not exist. Import a server first: delta mcp import -o missing.yaml -- <command>',
  )
  expect(problemOf('tools.yaml')).toBe(
    'tools.yaml is not a file of an MCP server: it has no "mcp:". Import one: delta mcp import -o tools.yaml -- <command>',
  )
  expect(problemOf('wrong.yaml')).toMatchInlineSnapshot(`
    "wrong.yaml:
    - mcp.name must be letters, digits, _ and -, at most 32, got "a b"
    - mcp.timeout_ms must be at least 0, got -1
    - mcp: unknown key "comand". Did you mean "command"?"
  `)
  expect(problemOf('both.yaml')).toBe('both.yaml:\n- mcp must have either a command or a url')
  expect(problemOf('bomb.yaml')).toContain('bomb.yaml: Excessive alias count')
  expect(problemOf('broken.yaml')).toContain('broken.yaml: Flow sequence')
})
