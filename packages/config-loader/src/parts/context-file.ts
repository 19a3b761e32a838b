import { isText, requireThat } from '../usage.js'
/** What `delta init` writes: the recipe that sends the prompt, the workspace's guide and the whole conversation. */
export const DEFAULT_CONTEXT_YAML = `# What the model sees besides the tools, in this order. To look at it: delta show --request 1 -w <workspace>
sources:
  # The role and the rules.
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/system_prompt.md'

  # Notes about the workspace, if it has any.
  - type: file
    id: workspace_guide
    path: '\${CWD}/DELTA.md'
    on_missing: skip

  # The task, and every thought, action and observation since.
  - type: journal
    id: conversation_history
    # max_iterations: 20   # only the newest cycles, and all that users said
`

/** How the message about a missing context.yaml begins. */
export const CONTEXT_MISSING = 'Error: context.yaml not found'

const MORE = 'https://github.com/delta-engine/delta/blob/main/packages/context/README.md'

/**
 * What a person reads whose agent has no context.yaml: why it is needed, and one they can paste.
 *
 * @param directory - The agent's directory, as it is to be shown.
 * @param promptFile - The agent's prompt file, relative to that directory, so that the pasted file works at once.
 */
export function missingContextMessage(directory: string, promptFile: string): string {
  requireThat(isText(directory), 'missingContextMessage: the directory', 'a path as text')
  requireThat(isText(promptFile), 'missingContextMessage: the file with the instructions', 'its name as text')
  return `${CONTEXT_MISSING} in ${directory}

Delta Engine requires an explicit context.yaml file to define how
the agent's attention window is constructed.

Quick fix - Create context.yaml with default content:

sources:
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/${promptFile.replaceAll("'", "''")}'
  - type: file
    id: workspace_guide
    path: '\${CWD}/DELTA.md'
    on_missing: skip
  - type: journal
    id: conversation_history

For more information, see:
${MORE}`
}
