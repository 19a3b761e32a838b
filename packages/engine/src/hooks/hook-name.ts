/** The eight moments at which an agent's own command may step in. */
export type HookName =
  | 'pre_llm_request'
  | 'post_llm_response'
  | 'pre_tool_execution'
  | 'post_tool_execution'
  | 'on_error'
  | 'on_run_end'
  | 'on_iteration_start'
  | 'on_iteration_end'
