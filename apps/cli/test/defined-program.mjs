// A program with an agent of its own, to be killed: node defined-program.mjs <workspace> [events until it kills itself] [home]
import { defineAgent, runAgent } from '@delta/engine'
import { scriptModel } from '@delta/model'

const [workDirectory, killAfter, home] = process.argv.slice(2)
const turns = [
  { tool_calls: [{ name: 'note', arguments: { word: 'one' } }] },
  { tool_calls: [{ name: 'note', arguments: { word: 'two' } }] },
  { content: 'Noted.' },
]
const agent = defineAgent({
  name: 'noter',
  llm: home === undefined ? scriptModel(turns) : { provider: 'script', script: 'turns.yaml' },
  system: 'You note words as ${word} in ${CWD}.',
  tools: [
    {
      name: 'note',
      description: 'Notes a word.',
      ...(home ? { exec: '${AGENT_HOME}/note ${word}' } : { shell: 'echo ${word} >> notes.txt' }),
    },
  ],
  hooks: { on_run_end: { command: ['touch', 'ended'] } },
  home,
})
let events = 0
for await (const event of runAgent({ agent, workDirectory, message: 'Go', env: process.env })) {
  if (event.kind === 'journal' && ++events === Number(killAfter)) process.kill(process.pid, 'SIGKILL')
}
