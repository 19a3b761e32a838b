import * as z from 'zod/mini'

const text = z.string()
const wholeNumber = z.int()
const optionalText = z.optional(z.string())
const optionalIteration = z.optional(z.int())
const position = { seq: z.int(), timestamp: z.string() }

const usage = z.object({
  prompt_tokens: z.optional(z.number()),
  completion_tokens: z.optional(z.number()),
  total_tokens: z.optional(z.number()),
})

export const toolCall = z.object({ id: text, action_id: text, name: text, arguments: text })

export const status = z.enum(['RUNNING', 'WAITING_FOR_INPUT', 'COMPLETED', 'FAILED', 'INTERRUPTED'])

/** How each known event is written, by `type`. Fields beyond these are kept, never an error. */
export const eventSchemas = {
  ENGINE_START: z.object({
    ...position,
    type: z.literal('ENGINE_START'),
    run_id: text,
    agent_name: optionalText,
    agent_home: optionalText,
    work_dir: optionalText,
    workspace_id: z.optional(z.nullable(text)),
    task: optionalText,
    max_iterations: z.optional(z.nullable(z.number())),
    config: z.optional(z.unknown()),
    engine: z.optional(
      z.object({
        version: optionalText,
        node: optionalText,
        pid: z.optional(wholeNumber),
        hostname: optionalText,
        epoch: z.optional(wholeNumber),
      }),
    ),
    resumed: z.optional(z.boolean()),
    retry: z.optional(z.boolean()),
    changed_files: z.optional(z.array(text)),
    overrides: z.optional(z.array(text)),
    parent_run: optionalText,
    allowed: z.optional(
      z.object({
        import_roots: z.optional(z.array(text)),
        trust_workspace_env: z.optional(z.boolean()), // of versions before 0.2
        workspace_env_digest: optionalText,
        runs_dir: optionalText,
      }),
    ),
  }),
  USER_MESSAGE: z.object({
    ...position,
    type: z.literal('USER_MESSAGE'),
    iteration: optionalIteration,
    content: text,
  }),
  THOUGHT: z.object({
    ...position,
    type: z.literal('THOUGHT'),
    iteration: wholeNumber,
    content: text,
    tool_calls: z.array(toolCall),
    llm_invocation_ref: optionalText,
    request_bytes: z.optional(wholeNumber),
    finish_reason: optionalText,
    usage: z.optional(z.nullable(usage)),
    message: z.optional(z.unknown()),
  }),
  ACTION_REQUEST: z.object({
    ...position,
    type: z.literal('ACTION_REQUEST'),
    iteration: wholeNumber,
    action_id: text,
    attempt: wholeNumber,
    tool_name: text,
    tool_args: z.optional(z.unknown()),
    resolved_command: z.optional(z.nullable(text)),
    argv: z.optional(z.nullable(z.array(text))),
    execution_ref: z.optional(z.nullable(text)),
  }),
  ACTION_RESULT: z.object({
    ...position,
    type: z.literal('ACTION_RESULT'),
    iteration: wholeNumber,
    action_id: text,
    tool_name: text,
    status: z.enum(['SUCCESS', 'FAILED', 'ERROR', 'TIMEOUT', 'BLOCKED', 'INTERRUPTED']),
    exit_code: z.optional(z.nullable(wholeNumber)),
    signal: z.optional(z.nullable(text)),
    observation_content: text,
    execution_ref: z.optional(z.nullable(text)),
    duration_ms: z.optional(z.nullable(z.number())),
  }),
  HUMAN_INPUT_REQUEST: z.object({
    ...position,
    type: z.literal('HUMAN_INPUT_REQUEST'),
    iteration: optionalIteration,
    request_id: optionalText,
    action_id: optionalText,
    prompt: text,
    input_type: optionalText,
    sensitive: z.optional(z.boolean()),
    argv: z.optional(z.array(text)),
    effects: z.optional(z.unknown()),
    reasons: z.optional(z.array(text)),
  }),
  HUMAN_INPUT_RECEIVED: z.object({
    ...position,
    type: z.literal('HUMAN_INPUT_RECEIVED'),
    iteration: optionalIteration,
    request_id: optionalText,
    action_id: optionalText,
    response: text,
    remember: optionalText,
  }),
  SYSTEM_MESSAGE: z.object({
    ...position,
    type: z.literal('SYSTEM_MESSAGE'),
    iteration: optionalIteration,
    level: z.enum(['INFO', 'WARN', 'ERROR']),
    content: text,
  }),
  HOOK_EXECUTION_AUDIT: z.object({
    ...position,
    type: z.literal('HOOK_EXECUTION_AUDIT'),
    iteration: optionalIteration,
    action_id: optionalText,
    hook_name: text,
    status: text,
    io_path_ref: z.optional(z.nullable(text)),
    duration_ms: z.optional(z.number()),
    error_message: optionalText,
    observation_override: optionalText,
  }),
  ERROR: z.object({
    ...position,
    type: z.literal('ERROR'),
    iteration: optionalIteration,
    error_message: text,
    error_details: z.optional(z.unknown()),
    recoverable: z.optional(z.boolean()),
  }),
  ENGINE_END: z.object({
    ...position,
    type: z.literal('ENGINE_END'),
    run_id: optionalText,
    status,
    final_iteration: z.optional(wholeNumber),
    usage: z.optional(z.nullable(usage)),
    reason: z.optional(z.nullable(text)),
    reason_code: z.optional(z.nullable(text)),
    warnings: z.optional(z.array(text)),
  }),
} as const
