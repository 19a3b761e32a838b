import { isText, requireThat } from '../usage.js'

/**
 * What `delta init` writes, with `header: false` above its sources: the recipe that sends the prompt, the workspace's guide and the whole conversation. Its words
 * belong to the format, as its keys do.
 */
export const DEFAULT_CONTEXT_YAML = `# Delta Engine Context Strategy (v1.6+)
# This file defines HOW the Agent's attention window (LLM context) is constructed.
# It is the explicit "recipe" for what the Agent sees.

sources:
  # 1. Core Instructions (The System Prompt)
  # This is the primary definition of the Agent's role, rules, and goals.
  # Note: System Prompt must be explicitly declared here to ensure recipe completeness.
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/system_prompt.md'

  # 2. Workspace Guide (Optional: DELTA.md)
  # If a DELTA.md file exists in the workspace (CWD), it is automatically loaded.
  # Use this to provide workspace-specific context, rules, or documentation.
  - type: file
    id: workspace_guide
    path: '\${CWD}/DELTA.md'
    on_missing: skip  # Skip if DELTA.md does not exist

  # 3. Conversation History (The Journal)
  # Includes the history of Thoughts, Actions, and Observations.
  - type: journal
    id: conversation_history
    # By default, the full history is included.
    # To limit history length (save tokens or manage attention), uncomment and adjust:
    # max_iterations: 20
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
  requireThat(isText(directory), 'missingContextMessage: the directory', 'a path')
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
