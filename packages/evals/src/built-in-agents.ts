const CONTEXT = [
  'sources:',
  `  - { type: file, id: system_prompt, path: '\${AGENT_HOME}/system_prompt.md' }`,
  '  - { type: journal, id: history }',
  '',
].join('\n')

/**
 * Agents that check the evaluation itself: `oracle` runs a task's solution and must score 1, `nop` does nothing and must score 0.
 * They are ordinary agents, whose model is a script.
 */
export const BUILT_IN_AGENTS: Readonly<Record<'oracle' | 'nop', Readonly<Record<string, string>>>> = {
  oracle: {
    'agent.yaml': toText([
      'name: oracle',
      'description: Runs the solution of a task.',
      'llm: { provider: script, script: script.yaml }',
      'system_prompt: system_prompt.md',
      'tools:',
      '  - name: solve',
      '    description: Run the solution.',
      `    shell: sh "$DELTA_SOLUTION"`,
    ]),
    'script.yaml': toText(['- tool_calls: [{ name: solve }]', '- content: Done.']),
    'system_prompt.md': 'Solve the task.\n',
    'context.yaml': CONTEXT,
  },
  nop: {
    'agent.yaml': toText([
      'name: nop',
      'description: Does nothing.',
      'llm: { provider: script, script: script.yaml }',
      'system_prompt: system_prompt.md',
    ]),
    'script.yaml': toText(['- content: Nothing was done.']),
    'system_prompt.md': 'Do nothing.\n',
    'context.yaml': CONTEXT,
  },
}

function toText(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}
