// The least a durable loop can do: ask over node:http, journal, run the command with its output in a file, journal.
// It has no recovery, no validation and no records: node floor.mjs <base url> <workspace>
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { converse, openLog } from './by-hand.mjs'

const [baseUrl, workspace] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const journal = openLog(join(workspace, '.floor'), 'journal.jsonl')
const outputPath = join(workspace, '.floor/output')

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

function run(argv, announce) {
  announce()
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

await converse({ journal, ask, run })
agent.destroy()
