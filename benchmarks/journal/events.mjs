/** What an engine appends in one iteration that runs one command. */
export function iterationEvents(iteration) {
  const id = `call_${iteration}`
  return [
    {
      type: 'THOUGHT',
      iteration,
      content: 'Let me look at the directory first, then decide which file to read. '.repeat(2),
      tool_calls: [{ id, action_id: id, name: 'list_files', arguments: '{"directory":"src"}' }],
      llm_invocation_ref: `io/invocations/20261120T093000123_${iteration}.json`,
      usage: { prompt_tokens: 1200, completion_tokens: 40, total_tokens: 1240 },
    },
    {
      type: 'ACTION_REQUEST',
      iteration,
      action_id: id,
      attempt: 1,
      tool_name: 'list_files',
      tool_args: { directory: 'src' },
      resolved_command: 'ls -la src',
      argv: ['ls', '-la', 'src'],
    },
    {
      type: 'ACTION_RESULT',
      iteration,
      action_id: id,
      tool_name: 'list_files',
      status: 'SUCCESS',
      exit_code: 0,
      signal: null,
      observation_content: '-rw-r--r-- 1 user user 1234 Nov 20 09:30 index.ts\n'.repeat(6),
      execution_ref: `io/tool_executions/20261120T093000123_list_files_${iteration}.json`,
      duration_ms: 3,
    },
  ]
}

/** A journal of this many events. */
export function journalText(count) {
  const lines = ['{"seq":1,"timestamp":"2026-11-20T09:30:00.000Z","type":"ENGINE_START","run_id":"bench"}']
  lines.push(
    '{"seq":2,"timestamp":"2026-11-20T09:30:00.000Z","type":"USER_MESSAGE","content":"List the files."}',
  )
  for (let iteration = 1; lines.length < count; iteration++) {
    for (const event of iterationEvents(iteration)) {
      const position = { seq: lines.length + 1, timestamp: '2026-11-20T09:30:00.000Z' }
      if (lines.length < count) lines.push(JSON.stringify({ ...position, ...event }))
    }
  }
  return `${lines.join('\n')}\n`
}
