import { buildContext, parseManifest } from '@delta/context'

const manifest = parseManifest({
  total_max_tokens: 8000,
  sources: [
    { type: 'text', id: 'rules', text: 'You count files.' },
    { type: 'file', id: 'guide', path: '${CWD}/GUIDE-FOR-AGENTS.md', on_missing: 'skip' },
    { type: 'journal', id: 'conversation', max_iterations: 30 },
  ],
})
const timestamp = '2026-11-20T09:30:00.000Z'
const call = { id: 'c1', action_id: 'c1', name: 'list_files', arguments: '{}' }
const events = [
  { seq: 1, timestamp, type: 'USER_MESSAGE', content: 'Count the files.' },
  { seq: 2, timestamp, type: 'THOUGHT', iteration: 1, content: '', tool_calls: [call] },
  { seq: 3, timestamp, type: 'ACTION_REQUEST', iteration: 1, action_id: 'c1', tool_name: 'list_files' },
] as const

const { messages, blocks } = await buildContext(manifest, {
  journalPath: events,
  variables: { CWD: process.cwd(), RUN_DIR: process.cwd() },
  env: process.env,
  iteration: 2,
  task: 'Count the files.',
})
for (const { role, content } of messages) console.log(`${role}: ${JSON.stringify(content)}`)
console.table(blocks, ['source_id', 'messages', 'tokens', 'note'])
