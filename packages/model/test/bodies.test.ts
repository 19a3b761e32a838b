import { join } from 'node:path'
import fc from 'fast-check'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type { Api, ChatMessage, ChatRequest, ContentPart, ProviderItems, ToolCall } from '../src/index.js'
import { toWire } from '../src/wire.js'

/** The type of a body, as the vendor's package declares it. */
const TYPES: Record<Api, string> = {
  chat: "import('openai/resources/chat/completions').ChatCompletionCreateParams",
  responses: "import('openai/resources/responses/responses').ResponseCreateParams",
  messages: "import('@anthropic-ai/sdk/resources/messages').MessageCreateParams",
}
const APIS = ['chat', 'responses', 'messages'] as const

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
const mark = fc.constantFrom({}, { prompt_cache: true }, { prompt_cache: '1h' } as const)
const image = { type: 'image', blob: 'b', media_type: 'image/png', bytes: 1 } as const
const file = { type: 'file', blob: 'b', media_type: 'application/pdf', bytes: 1, name: 'a.pdf' } as const
const part = fc
  .tuple(
    fc.oneof(
      text.map((said) => ({ type: 'text', text: said }) as const),
      fc.constantFrom(image, file),
    ),
    mark,
  )
  .map(([fields, marked]): ContentPart => ({ ...fields, ...marked }))
const texts = fc.array(
  fc.tuple(text, mark).map(([said, marked]) => ({ type: 'text' as const, text: said, ...marked })),
)
const content = fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }))

/** What each API answers, with reasoning, text and calls. */
const ITEMS: Record<'responses' | 'messages', (said: string, calls: readonly ToolCall[]) => object[]> = {
  responses: (said, calls) => [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: said }],
      encrypted_content: said,
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said, annotations: [] }],
    },
    ...calls.map(({ id, function: { name, arguments: input } }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: input,
    })),
  ],
  messages: (said, calls) => [
    { type: 'thinking', thinking: said, signature: said },
    { type: 'redacted_thinking', data: 'QUJD' },
    { type: 'text', text: said, citations: null },
    ...calls.map(({ id, function: { name } }) => ({ type: 'tool_use', id, name, input: { said } })),
  ],
}

/** An answer, and the results of its calls. */
const round = fc
  .record({
    said: fc.option(text),
    from: fc.constantFrom('chat', 'responses', 'messages'),
    results: fc.array(fc.record({ content, is_error: fc.constantFrom({}, { is_error: true }), mark }), {
      maxLength: 3,
    }),
  })
  .map(({ said, from, results }): ChatMessage[] => {
    const calls = results.map((_, index) => ({
      id: `call_${index}`,
      type: 'function' as const,
      function: { name: 'look', arguments: JSON.stringify({ said }) },
    }))
    const items: ProviderItems | undefined =
      from === 'chat' ? undefined : { api: from, list: ITEMS[from](said ?? 'x', calls) }
    return [
      {
        role: 'assistant',
        content: said,
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(items && { items }),
      },
      ...results.map((result, index) => {
        return {
          role: 'tool',
          tool_call_id: `call_${index}`,
          content: result.content,
          ...result.is_error,
          ...result.mark,
        } as const
      }),
    ]
  })

const said = fc
  .tuple(fc.constantFrom('user', 'system', 'developer'), content, texts, mark)
  .map(([role, any, some, marked]): ChatMessage[] => {
    return [role === 'user' ? { role, content: any, ...marked } : { role, content: some, ...marked }]
  })

const tool = fc.record(
  {
    name: fc.constant('look'),
    description: text,
    parameters: fc.constant({ type: 'object' }),
    strict: fc.boolean(),
  },
  { requiredKeys: ['name'] },
)

const request = fc
  .record({
    turns: fc.array(fc.oneof(said, round), { minLength: 1, maxLength: 6 }),
    tools: fc.array(tool),
    stream: fc.boolean(),
  })
  .map(({ turns, tools, stream }): ChatRequest => {
    const messages: ChatMessage[] = [{ role: 'system', content: 'Rules.' }, ...turns.flat()]
    return {
      model: 'm',
      messages,
      stream,
      tools: tools.map((each) => ({ type: 'function', function: each })),
    }
  })

/** What `tsc` says of files that stand beside this one, by their names. */
function complaints(files: Record<string, string>): Record<string, string[]> {
  const options: ts.CompilerOptions = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  }
  const paths = Object.fromEntries(
    Object.entries(files).map(([name, code]) => [join(import.meta.dirname, name), code]),
  )
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path in paths || fileExists(path)
  host.getSourceFile = (path, target, ...rest) => {
    const code = paths[path]
    return code === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, code, target)
  }
  const program = ts.createProgram(Object.keys(paths), options, host)
  return Object.fromEntries(
    Object.keys(files).map((name) => {
      const source = program.getSourceFile(join(import.meta.dirname, name))
      const found = ts.getPreEmitDiagnostics(program, source)
      return [
        name,
        found.map(({ messageText, start = 0 }) => {
          const { line } = source?.getLineAndCharacterOfPosition(start) ?? { line: 0 }
          return `${source?.text.split('\n')[line]}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
        }),
      ]
    }),
  )
}

test("any body has the type that the vendor's package declares, and tsc would see if it had not", () => {
  const requests = fc.sample(request, { numRuns: 40, seed: 7 })
  const limit = { chat: 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' }
  const files = APIS.flatMap((api) => {
    const bodies = requests.map(
      (each) => toWire(api, { ...each, [limit[api]]: 9 }, () => Buffer.from('b')).body,
    )
    const code = (all: object[]) =>
      all.map((body) => `;(${JSON.stringify(body)}) satisfies ${TYPES[api]}`).join('\n')
    const wrong = bodies.map((body) => ({ ...body, stream: 'yes' }))
    return [
      [`${api}.ts`, `${code(bodies)}\nexport {}`],
      [`${api}-wrong.ts`, `${code(wrong.slice(0, 3))}\nexport {}`],
    ]
  })
  const found = complaints(Object.fromEntries(files))
  for (const api of APIS) {
    expect(found[`${api}.ts`], api).toEqual([])
    expect(found[`${api}-wrong.ts`], api).toHaveLength(3)
  }
})
