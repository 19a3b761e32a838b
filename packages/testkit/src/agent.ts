import type { ScriptedTurn } from './script.js'
import type { TemporaryWorkspace, WorkspaceOptions } from './workspace.js'
import { temporaryWorkspace } from './workspace.js'

export interface TemporaryAgentOptions extends WorkspaceOptions {
  /** Merged over the defaults of `agent.yaml`. */
  readonly agent?: Readonly<Record<string, unknown>>
  readonly tools?: readonly object[]
  /** Turns for `llm.provider: script`, written to `script.yaml`. Without them and `baseUrl`, one turn answers. */
  readonly turns?: readonly ScriptedTurn[]
  /** Of a scripted server: `llm.provider: openai`. */
  readonly baseUrl?: string
  /** Further files, or other texts for the ones made here. */
  readonly files?: Readonly<Record<string, string>>
}

/** The shortest recipe: the prompt, then the journal. */
export const MINIMAL_CONTEXT = `sources:
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/system_prompt.md'
  - type: journal
    id: conversation_history
`

/**
 * Makes an agent directory: `agent.yaml`, `context.yaml`, `system_prompt.md` and, for a scripted model,
 * `script.yaml`. The YAML files are written as JSON, which is YAML.
 */
export async function temporaryAgent(options: TemporaryAgentOptions = {}): Promise<TemporaryWorkspace> {
  const { agent, tools = [], turns = [{ content: 'Done.' }], baseUrl, files, ...rest } = options
  const llm =
    baseUrl === undefined
      ? { provider: 'script', script: 'script.yaml' }
      : { provider: 'openai', model: 'scripted', base_url: baseUrl }

  return temporaryWorkspace(
    {
      'agent.yaml': toJson({ name: 'test-agent', llm, tools, ...agent }),
      'context.yaml': MINIMAL_CONTEXT,
      'system_prompt.md': 'You are a test.\n',
      ...(baseUrl === undefined ? { 'script.yaml': toJson(turns) } : {}),
      ...files,
    },
    rest,
  )
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
