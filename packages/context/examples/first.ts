import { readFileSync } from 'node:fs'
import { buildContext, parseManifest } from '@delta/context'
import { parse } from 'yaml'

const manifest = parseManifest(parse(readFileSync('context.yaml', 'utf8')))
const { messages, blocks } = await buildContext(manifest, {
  journalPath: 'journal.jsonl',
  variables: { AGENT_HOME: `${process.cwd()}/agent`, CWD: process.cwd(), RUN_DIR: process.cwd() },
  env: process.env,
  iteration: 3,
  task: 'Count the files.',
})
for (const { role, content } of messages) console.log(`${role}: ${JSON.stringify(content)}`)
console.table(blocks, ['source_id', 'messages', 'bytes', 'tokens', 'note'])
