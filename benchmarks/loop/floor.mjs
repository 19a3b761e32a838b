// The least a durable loop can do: ask over node:http, journal, run the command with its output in a file, journal.
// It has no recovery, no validation and no records: node floor.mjs <base url> <workspace>
import { spawn } from 'node:child_process'
import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'

const [baseUrl, workspace] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
mkdirSync(join(workspace, '.floor'), { recursive: true })
const journal = openSync(join(workspace, '.floor/journal.jsonl'), 'a')
const outputPath = join(workspace, '.floor/output')
let seq = 0

function append(event, { sync = false } = {}) {
  seq += 1
  writeSync(journal, `${JSON.stringify({ seq, timestamp: new Date().toISOString(), ...event })}\n`)
  if (sync) fdatasyncSync(journal)
}

function ask(messages) {
  const body = JSON.stringify({ model: 'scripted', messages })
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const asked = request(`${baseUrl}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve(JSON.parse(text).choices[0].message))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

function run(argv) {
  const output = openSync(outputPath, 'w')
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), { cwd: workspace, stdio: ['ignore', output, output] })
    child.on('error', reject)
    child.on('exit', () => {
      closeSync(output)
      resolve(readFileSync(outputPath, 'utf8'))
    })
  })
}

const messages = [{ role: 'user', content: 'Go' }]
for (;;) {
  const message = await ask(messages)
  append({ type: 'THOUGHT', message })
  messages.push(message)
  if (!message.tool_calls) break
  for (const call of message.tool_calls) {
    const argv = ['echo', JSON.parse(call.function.arguments).text]
    append({ type: 'ACTION_REQUEST', argv }, { sync: true })
    const observation = await run(argv)
    append({ type: 'ACTION_RESULT', observation }, { sync: true })
    messages.push({ role: 'tool', tool_call_id: call.id, content: observation })
  }
}
agent.destroy()
