import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { makeDirectories } from '@delta/durable/internal'
import { quoteForPerson } from '@delta/executor'
import { explainSystemError } from '@delta/workspace/internal'
import { NEW_MODELS, type NewModel } from '../new-models.js'
import { EXIT, type Terminal } from '../terminal.js'
import { print } from '../text.js'
import { UsageError } from '../usage.js'

/** Templates are plain directories beside the built program, where anybody can read what `init` copies. */
const TEMPLATES = join(import.meta.dirname, 'templates')
/** The copy of `@delta/tools` that an agent without one of its own imports. */
const TOOLS = join(import.meta.dirname, 'packages/@delta/tools')
/** Editors read them. They are copied too, so that they are found wherever the agent is moved to. */
const SCHEMAS = join(import.meta.dirname, 'schemas')

/** `delta init`: copies a template into a new directory. An agent made this way runs at once, without a key. */
export async function execute(
  flags: { template: string; provider?: string },
  terminal: Terminal,
  directory: string,
): Promise<number> {
  const target = resolve(terminal.cwd, directory)
  const model = flags.provider === undefined ? undefined : NEW_MODELS[flags.provider]
  makeEmpty(target, directory)
  try {
    cpSync(join(TEMPLATES, flags.template), target, { recursive: true })
    cpSync(SCHEMAS, join(target, '.schemas'), { recursive: true })
    rename(target)
    if (model !== undefined) writeModel(target, model)
    switchHeadersOff(target)
    nameVersionOfTools(target)
  } catch (error) {
    rmSync(target, { recursive: true, force: true }) // half an agent would block the next attempt
    throw error
  }
  terminal.stderr.write(nextSteps(directory, terminal.env, model))
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
  const name = basename(target).replace(/[^A-Za-z0-9_-]+/g, '-') || 'agent'
  edit(target, 'agent.yaml', /^name: .*$/m, () => `name: ${name}`)
}

/** The prompt of a new agent is its author's, byte for byte. */
function switchHeadersOff(target: string): void {
  const line = 'header: false # true puts the line "# Context Block: <id>" above each text'
  edit(target, 'context.yaml', /^sources:$/m, (sources) => `${line}\n\n${sources}`)
}

/** What the new agent was made with is what it takes: a later major version is the author's decision. */
function nameVersionOfTools(target: string): void {
  const { version } = JSON.parse(readFileSync(join(TOOLS, 'package.json'), 'utf8')) as { version: string }
  const [major, minor] = version.split('.')
  edit(target, 'agent.yaml', /npm:@delta\/tools\//g, () => `npm:@delta/tools@^${major}.${minor}/`)
}

function edit(target: string, file: string, pattern: RegExp, change: (found: string) => string): void {
  const path = join(target, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, change))
}

/** Puts a real model in the place of the script. */
function writeModel(target: string, { llm, key, marksCache }: NewModel): void {
  const script = /^(?:# The model is a script.*\n(?:#.*\n)*)?llm:\n(?: .*\n)+/m
  edit(target, 'agent.yaml', script, () => `llm:\n${llm.map((line) => `  ${line}\n`).join('')}`)
  rmSync(join(target, 'script.yaml'))
  if (marksCache) cachePrompt(target)
  writeFileSync(join(target, '.gitignore'), '# a key; and what runs without -w work in\n.env\nworkspaces/\n')
  const example = `# Copy this file to .env, which .gitignore keeps out of git.\n${key}=\n`
  if (key !== undefined) writeFileSync(join(target, '.env.example'), example)
}

/** Marks what a provider may cache that caches nothing by itself. */
function cachePrompt(target: string): void {
  const mark = '    prompt_cache: true # the provider may keep everything up to here in its cache'
  const ends = /^ {4}id: (?:system_prompt|conversation_history)$/gm
  edit(target, 'context.yaml', ends, (line) => `${line}\n${mark}`)
}

function nextSteps(directory: string, env: NodeJS.ProcessEnv, model: NewModel | undefined): string {
  const delta = env.npm_lifecycle_event === 'npx' ? 'npx @delta/cli' : 'delta'
  const run = `  ${delta} run ${quoteForPerson(['--agent', directory])} -w . -m "What is here?"`
  const file = (name: string) => quoteForPerson([join(directory, name)])
  if (model === undefined)
    return `Created an agent. Its model is a script, so it needs no key:
${run}
To use a real model, set llm in ${file('agent.yaml')} as its comment says.
`
  const start =
    model.key === undefined
      ? `Start the server, and write the name of its model into ${file('agent.yaml')}.`
      : `Put ${model.key}=… into the environment, or into ${file('.env')} as .env.example shows.`
  return `Created an agent. ${start} Then:\n${run}\n`
}
