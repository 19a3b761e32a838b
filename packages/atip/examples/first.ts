import { leavesOf, parseToolCall, toOpenAI } from '@delta/atip'

const notes = {
  atip: '0.6',
  name: 'notes',
  version: '1.0.0',
  description: 'Keeps notes in a file',
  commands: {
    list: { description: 'Print all notes', effects: { network: false, filesystem: { write: false } } },
    wipe: { description: 'Delete all notes', effects: { destructive: true, reversible: false } },
  },
}
for (const { function: tool } of toOpenAI(notes)) console.log(`${tool.name}: ${tool.description}`)

const message = { tool_calls: [{ id: 'call_1', function: { name: 'notes_list', arguments: '{}' } }] }
const [call] = parseToolCall('openai', { choices: [{ message }] })
console.log(leavesOf(notes).find((leaf) => leaf.name === call?.name)?.path)
