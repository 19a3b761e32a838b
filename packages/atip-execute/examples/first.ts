import { createExecutor, parseToolCall } from '@delta/atip-execute'

const echo = {
  atip: '0.6',
  name: 'echo',
  version: '1.0.0',
  description: 'Prints its arguments',
  commands: {
    say: {
      description: 'Say it',
      arguments: [{ name: 'text', type: 'string' as const }],
      effects: { network: false },
    },
    erase: { description: 'Erase all', effects: { destructive: true } },
  },
}
const confirmationHandler = async ({ command }: { command: string[] }) => {
  console.log('asked about:', command.join(' '))
  return false
}
const executor = createExecutor({ tools: [echo], policy: { confirmationHandler } })

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const content = [use('1', 'echo_say', { text: 'hi; rm -rf /' }), use('2', 'echo_erase', {})]
const { results } = await executor.executeBatch(parseToolCall('anthropic', { content }))
for (const result of results) console.log(result.content.trim())
