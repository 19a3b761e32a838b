import { createExecutor, parseToolCall } from '@delta/atip-execute'

const executor = createExecutor({
  tools: [
    {
      atip: '0.6',
      name: 'echo',
      version: '1.0.0',
      description: 'Prints its arguments',
      commands: {
        say: {
          description: 'Say it',
          arguments: [{ name: 'text', type: 'string' }],
          effects: { network: false },
        },
        erase: { description: 'Erase all', effects: { destructive: true } },
      },
    },
  ],
  policy: {
    confirmationHandler: async ({ command }) => {
      console.log('asked about:', command.join(' '))
      return false
    },
  },
})

const content = [
  { type: 'tool_use', id: '1', name: 'echo_say', input: { text: 'hi; rm -rf /' } },
  { type: 'tool_use', id: '2', name: 'echo_erase', input: {} },
]
const { results } = await executor.executeBatch(parseToolCall('anthropic', { content }))
for (const result of results) console.log(result.content.trim())
