import { join } from 'node:path'
import { type BuiltContext, buildContext, parseManifest } from '@delta/context'
import type { StoredEvent } from '@delta/journal/runs'
import type { FunctionTool } from '@delta/model'
import { toWire } from '@delta/model/internal'
import { temporaryWorkspace } from '@delta/testkit'
import { type ComparedRequest, findCacheBreak } from '@delta/trace'
import { expect, onTestFinished, test } from 'vitest'

const APIS = ['chat', 'responses', 'messages'] as const
const JOURNAL = { type: 'journal' }

/** A conversation that grows, and the requests that are built from it in the words of an API. */
async function conversation(api: (typeof APIS)[number]) {
  const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const events: StoredEvent[] = []
  const add = (event: object) => {
    events.push({ seq: events.length + 1, timestamp: '2026-11-20T09:30:00.000Z', ...event } as StoredEvent)
  }
  let iteration = 0
  function grow(content: string): void {
    iteration += 1
    const call = { iteration, action_id: `c${iteration}`, tool_name: 'look' }
    const calls = [{ id: call.action_id, action_id: call.action_id, name: 'look', arguments: '{}' }]
    add({ type: 'THOUGHT', iteration, content, tool_calls: calls })
    add({ type: 'ACTION_REQUEST', ...call, attempt: 1 })
    add({ type: 'ACTION_RESULT', ...call, status: 'SUCCESS', observation_content: 'Seen.' })
  }
  async function build(manifest: object, tools: FunctionTool[] = []): Promise<ComparedRequest> {
    const options = {
      journalPath: events,
      variables: { AGENT_HOME: path, CWD: path, RUN_DIR: join(path, '.delta/r1') },
      env: {},
      iteration: iteration + 1,
      task: '',
      tools,
    }
    const { messages, blocks }: BuiltContext = await buildContext(parseManifest(manifest), options)
    return { ...toWire(api, { messages, tools }).body, blocks }
  }
  add({ type: 'USER_MESSAGE', content: 'Go.' })
  return { build, grow, write }
}

test.each(APIS)(
  'on %s a breakpoint that moves on with the conversation breaks no cache, and a changed source before it does',
  async (api) => {
    const { build, grow } = await conversation(api)
    const recipe = (text: string) => ({
      sources: [
        { type: 'text', id: 'rules', text, prompt_cache: true },
        { ...JOURNAL, prompt_cache: true },
      ],
    })
    const look = (description: string): FunctionTool[] => [
      { type: 'function', function: { name: 'look', description } },
    ]
    const before = await build(recipe('Rules.'), look('Looks.'))
    grow('I look.')
    const after = await build(recipe('Rules.'), look('Looks.'))
    expect(findCacheBreak(before, after)).toBeUndefined()
    const rules = await build(recipe('Rulez.'), look('Looks.'))
    expect(findCacheBreak(before, rules)).toMatchObject({ source: 'rules', byte: 4 }) // the header does not count

    const others = await build(recipe('Rulez.'), look('Looks!')) // the tools come before all messages
    const byte = JSON.stringify(others.tools).indexOf('!')
    expect(findCacheBreak(before, others)).toMatchObject({ source: 'tools', type: 'tools', byte })
    const older = { ...before, blocks: before.blocks.slice(1) } // of a record without the block
    expect(findCacheBreak(older, after)).toBeUndefined()
  },
)

test.each(APIS)(
  'a conversation that only grows can be cached to its end on %s; a source that changes before large ones is named, with what it costs',
  async (api) => {
    const { build, grow, write } = await conversation(api)
    await write('prompt.md', 'You count.\n')
    await write('long.md', 'All rules. '.repeat(2000))
    const file = (id: string) => ({ type: 'file', id, path: `\${CWD}/${id}.md` })
    const [prompt, guide, long] = [file('prompt'), file('guide'), file('long')]
    /** Where the next request breaks the cache, after the guide was changed or not. */
    async function breakOf(manifest: object, text = 'Größe zählt.') {
      await write('guide.md', 'Größe zählt.')
      const before = await build(manifest)
      grow('next')
      await write('guide.md', text)
      return findCacheBreak(before, await build(manifest))
    }
    const changed = 'Größe zählte.'
    for (const more of [{}, { merge: true }, { header: false }, { header: false, merge: true }]) {
      const manifest = { ...more, sources: [prompt, guide, long, JOURNAL] }
      expect(await breakOf(manifest)).toBeUndefined()
      const found = await breakOf(manifest, changed)
      expect(found).toMatchObject({ source: 'guide', byte: Buffer.byteLength('Größe zählt') })
      expect(found?.message).toMatch(/^`guide` changed at byte 14: 5\.\dk tokens after it cannot be cached$/)
    }
    const last = { sources: [prompt, long, JOURNAL, guide] } // nothing that could be cached stands behind the guide
    expect(await breakOf(last, changed)).toBeUndefined()
    expect((await breakOf(last))?.message).toMatch(
      /^`guide` stands behind `journal`, which grew: its \d+ tokens cannot be cached$/,
    )
    const window = { sources: [prompt, { ...JOURNAL, id: 'talk', max_iterations: 3 }] }
    for (let count = 0; count < 4; count++) grow('more')
    expect(await breakOf(window)).toMatchObject({ source: 'talk' })
  },
)
