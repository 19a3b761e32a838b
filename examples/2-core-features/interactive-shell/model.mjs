// A model is a command: the request comes in on stdin, a message goes out. This one knows what it wants to type, and
// finds the id of its session where a real model would: in what the tools said.
import { readFileSync } from 'node:fs'

const { messages } = JSON.parse(readFileSync(0, 'utf8'))
const session_id = messages.map(({ content }) => /sess_\w+/.exec(content ?? '')?.[0]).find(Boolean)
// A call that was interrupted has no JSON for a result; its step is taken again.
const results = messages.filter(({ role, content }) => role === 'tool' && content.startsWith('{'))
const answers = results.map(({ content }) => JSON.parse(content))

const steps = [
  ['I need a shell that remembers.', 'session_start', {}],
  ['I go where the logs are, and keep what I look for.', 'session_exec', { command: 'cd logs\nlevel=ERROR' }],
  [
    'A function for what I do again and again.',
    'session_exec',
    { command: 'count() { grep -c "$level" "$1"; }' },
  ],
  [
    'All three are still there.',
    'session_exec',
    { command: 'pwd; for log in *.log; do echo "$log $(count "$log")"; done' },
  ],
  ['That is all.', 'session_end', { session_id }],
]

const [content, name, input] = steps[answers.length] ?? []
const message = name
  ? {
      role: 'assistant',
      content,
      tool_calls: [
        {
          id: `call_${answers.length + 1}`,
          type: 'function',
          function: {
            name,
            arguments: JSON.stringify(name === 'session_exec' ? { session_id, ...input } : input),
          },
        },
      ],
    }
  : {
      role: 'assistant',
      content: `Errors in each log:\n${answers.at(-2).stdout.split('\n').slice(1, -1).join('\n')}`,
    }
console.log(JSON.stringify(message))
