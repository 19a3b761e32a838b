import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { makeDirectories } from '@delta/durable/internal'
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
  flags: { template: string; provider?: ProviderName },
  terminal: Terminal,
  directory: string,
): Promise<number> {
  const target = resolve(terminal.cwd, directory)
  makeEmpty(target, directory)
  try {
    cpSync(join(TEMPLATES, flags.template), target, { recursive: true })
    cpSync(SCHEMAS, join(target, '.schemas'), { recursive: true })
    rename(target)
    if (flags.provider !== undefined) writeModel(target, flags.provider)
    switchHeadersOff(target)
  } catch (error) {
    rmSync(target, { recursive: true, force: true }) // half an agent would block the next attempt
    throw error
  }
  terminal.stderr.write(nextSteps(directory, terminal.env, flags.provider))
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

function edit(target: string, file: string, pattern: RegExp, change: (found: string) => string): void {
  const path = join(target, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, change))
}

/** The models that `delta init --provider` can write: `llm` of agent.yaml, and the line of `.env` that its key needs. */
export const PROVIDERS = {
  openai: { llm: ['model: gpt-4o'], key: 'OPENAI_API_KEY' },
  'openai-responses': { llm: ['api: responses', 'model: gpt-5.6'], key: 'OPENAI_API_KEY' },
  anthropic: {
    llm: [
      'provider: anthropic',
      'model: claude-sonnet-5',
      'max_tokens: 16000 # the most tokens one answer may have',
    ],
    key: 'ANTHROPIC_API_KEY',
  },
  local: {
    llm: [
      'base_url: http://127.0.0.1:11434/v1 # Ollama; any server with a chat-completions API',
      'model: qwen3',
    ],
    key: undefined,
  },
} as const
type ProviderName = keyof typeof PROVIDERS

/** Puts a real model in the place of the script. */
function writeModel(target: string, provider: ProviderName): void {
  const { llm, key } = PROVIDERS[provider]
  const script = /^(?:# The model is a script.*\n(?:#.*\n)*)?llm:\n(?: .*\n)+/m
  edit(target, 'agent.yaml', script, () => `llm:\n${llm.map((line) => `  ${line}\n`).join('')}`)
  rmSync(join(target, 'script.yaml'))
  if (provider === 'anthropic') cachePrompt(target)
  writeFileSync(join(target, '.gitignore'), '# a key; and what runs without -w work in\n.env\nworkspaces/\n')
  const example = `# Copy this file to .env, which .gitignore keeps out of git.\n${key}=\n`
  if (key !== undefined) writeFileSync(join(target, '.env.example'), example)
}

/** Anthropic caches only what a request marks. */
function cachePrompt(target: string): void {
  const mark = '    prompt_cache: true # the provider may keep everything up to here in its cache'
  const ends = /^ {4}id: (?:system_prompt|conversation_history)$/gm
  edit(target, 'context.yaml', ends, (line) => `${line}\n${mark}`)
}

function nextSteps(directory: string, env: NodeJS.ProcessEnv, provider?: ProviderName): string {
  const delta = env.npm_lifecycle_event === 'npx' ? 'npx @delta/cli' : 'delta'
  const run = `  ${delta} run ${quoteForPerson(['--agent', directory])} -w . -m "What is here?"`
  const file = (name: string) => quoteForPerson([join(directory, name)])
  if (provider === undefined)
    return `Created an agent. Its model is a script, so it needs no key:
${run}
To use a real model, set llm in ${file('agent.yaml')} as its comment says.
`
  const { key } = PROVIDERS[provider]
  const start =
    key === undefined
      ? `Start the server, and write the name of its model into ${file('agent.yaml')}.`
      : `Put ${key}=… into the environment, or into ${file('.env')} as .env.example shows.`
  return `Created an agent. ${start} Then:\n${run}\n`
}
