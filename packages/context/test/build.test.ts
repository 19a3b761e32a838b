import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredEvent } from '@delta/journal'
import { expect, onTestFinished, test } from 'vitest'
import { buildContext, type ContextManifest, parseManifest } from '../src/index.js'

async function place() {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'delta-context-')))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return {
    directory,
    options: {
      journalPath: [] as StoredEvent[],
      variables: { AGENT_HOME: directory, CWD: directory, RUN_DIR: join(directory, '.delta/r1') },
      environment: process.env,
      iteration: 1,
      task: 'Count.',
    },
  }
}

function manifest(input: unknown): ContextManifest {
  const parsed = parseManifest(input)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.manifest
}

const at = { timestamp: '2026-11-20T09:30:00.000Z' }
const TASK: StoredEvent = { ...at, seq: 1, type: 'USER_MESSAGE', content: 'Count.' }

test('a file becomes a system message under a header with its id', async () => {
  const { directory, options } = await place()
  await writeFile(join(directory, 'system_prompt.md'), 'You count.\n')
  const recipe = manifest({
    sources: [{ type: 'file', id: 'prompt', path: '${AGENT_HOME}/system_prompt.md' }, { type: 'journal' }],
  })

  const { messages, blocks } = await buildContext(recipe, { ...options, journalPath: [TASK] })

  expect(messages).toEqual([
    { role: 'system', content: '# Context Block: prompt\n\nYou count.\n' },
    { role: 'user', content: 'Count.' },
  ])
  expect(blocks.map(({ source_id, type, messages }) => ({ source_id, type, messages }))).toEqual([
    { source_id: 'prompt', type: 'file', messages: 1 },
    { source_id: 'journal', type: 'journal', messages: 1 },
  ])
})

test('what a generator writes is read, and what it only prints is saved where it should have written', async () => {
  const { directory, options } = await place()
  const source = (script: string) => ({
    type: 'computed_file',
    id: 'summary',
    generator: { command: ['sh', '-c', script] },
    output_path: '${CWD}/.delta/context_artifacts/summary.md',
  })
  const build = (script: string) => buildContext(manifest({ sources: [source(script)] }), options)

  const written = await build('echo "$DELTA_RUN_ID" > .delta/context_artifacts/summary.md')
  expect(written.messages).toEqual([{ role: 'system', content: '# Context Block: summary\n\nr1\n' }])
  const printed = await build('echo "$DELTA_CWD"')
  expect(printed.messages).toEqual([
    { role: 'system', content: `# Context Block: summary\n\n${directory}\n` },
  ])
  await expect(build('true')).rejects.toThrow('neither wrote')
})
