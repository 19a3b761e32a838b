/** A directory and what is typed in it, one line after the other. */
export interface Story {
  /** Text by path. `agent/` mostly is the agent and `work/` the workspace. */
  files: Readonly<Record<string, string>>
  lines: readonly string[]
}

/** A context with nothing but the conversation. */
export const CONTEXT = 'sources:\n  - { type: journal, id: conversation }\n'

/** An agent whose answers stand in `script.yaml`, as flow YAML. */
export function scripted(
  agent: string,
  turns: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    'agent/agent.yaml': `name: tried\nllm: { provider: script, script: script.yaml }\n${agent}`,
    'agent/context.yaml': CONTEXT,
    'agent/script.yaml': turns.map((turn) => `- ${turn}\n`).join(''),
    'work/notes.txt': 'one\ntwo\n',
    ...more,
  }
}

/** A turn of a script that calls one tool. */
export function call(name: string, args = '{}'): string {
  return `tool_calls: [{ name: ${name}, arguments: ${args} }]`
}

export function says(text: string): string {
  return `content: ${JSON.stringify(text)}`
}
