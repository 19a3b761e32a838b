import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { print } from '../present/print.js'
import type { Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'

/** Templates are directories that lie beside the built program, so what `init` copies can be read there. */
const TEMPLATES = fileURLToPath(new URL('./templates/', import.meta.url))

/** `delta init`: copies a template into a new directory. An agent made this way runs at once, without a key. */
export async function execute(
  flags: { template: string },
  terminal: Terminal,
  directory: string,
): Promise<number> {
  const target = resolve(terminal.cwd, directory)
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new UsageError(`${target} is not empty. Name a new directory: delta init <directory>`)
  }
  cpSync(join(TEMPLATES, flags.template), target, { recursive: true })
  rename(target)
  terminal.stderr.write(nextSteps(directory))
  print(terminal, `${target}\n`)
  return 0
}

/** The new agent is called like its directory. */
function rename(target: string): void {
  const path = join(target, 'agent.yaml')
  const name = basename(target).replace(/[^A-Za-z0-9_-]+/g, '-') || 'agent'
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^name: .*$/m, `name: ${name}`))
}

function nextSteps(directory: string): string {
  return `Made an agent. Its model is a script, so it needs no key:
  delta run --agent ${directory} -m "What is here?"
To let a real model think, set llm in ${join(directory, 'agent.yaml')} as its comment says.
`
}
