import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { makeDirectories } from '@delta/durable'
import { quoteForPerson } from '@delta/executor/internal'
import { EXIT, type Terminal } from '../terminal.js'
import { print } from '../text.js'
import { explainSystemError, UsageError } from '../usage.js'

/** Templates are plain directories beside the built program, where anybody can read what `init` copies. */
const TEMPLATES = join(import.meta.dirname, 'templates')
/** For editors. They are copied too, so that they are found wherever the agent is moved to. */
const SCHEMAS = join(import.meta.dirname, 'schemas')

/** `delta init`: copies a template into a new directory. An agent made this way runs at once, without a key. */
export async function execute(
  flags: { template: string },
  terminal: Terminal,
  directory: string,
): Promise<number> {
  const target = resolve(terminal.cwd, directory)
  makeEmpty(target, directory)
  try {
    cpSync(join(TEMPLATES, flags.template), target, { recursive: true })
    cpSync(SCHEMAS, join(target, '.schemas'), { recursive: true })
    rename(target)
    switchHeadersOff(target)
  } catch (error) {
    rmSync(target, { recursive: true, force: true }) // half an agent would block the next attempt
    throw error
  }
  terminal.stderr.write(nextSteps(directory, terminal.env))
  print(terminal, `${target}\n`)
  return EXIT.completed
}

function makeEmpty(target: string, shownAs: string): void {
  try {
    makeDirectories(target)
    if (readdirSync(target).length === 0) return
  } catch (cause) {
    throw new UsageError(`${shownAs}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
  throw new UsageError(`${target} is not empty. Name a new directory: delta init <directory>`)
}

/** Names the new agent after its directory. */
function rename(target: string): void {
  const path = join(target, 'agent.yaml')
  const name = basename(target).replace(/[^A-Za-z0-9_-]+/g, '-') || 'agent'
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^name: .*$/m, `name: ${name}`))
}

/** The prompt of a new agent is its author's, byte for byte. */
function switchHeadersOff(target: string): void {
  const path = join(target, 'context.yaml')
  const line = 'header: false # true puts the line "# Context Block: <id>" above each text'
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^sources:$/m, `${line}\n\nsources:`))
}

function nextSteps(directory: string, env: NodeJS.ProcessEnv): string {
  const delta = env.npm_lifecycle_event === 'npx' ? 'npx @delta/cli' : 'delta'
  return `Created an agent. Its model is a script, so it needs no key:
  ${delta} run ${quoteForPerson(['--agent', directory])} -w . -m "What is here?"
To use a real model, set llm in ${quoteForPerson([join(directory, 'agent.yaml')])} as its comment says.
`
}
