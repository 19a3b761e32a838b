/** Parameters that servers of chat completions are known to take. Every other one is passed on just the same. */
export const API_PARAMETERS: readonly string[] = [
  ...['temperature', 'top_p', 'top_k', 'top_a', 'min_p', 'typical_p', 'seed', 'stop', 'logit_bias'],
  ...['max_tokens', 'max_completion_tokens', 'min_tokens', 'num_ctx', 'num_predict', 'keep_alive'],
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'length_penalty', 'repeat_penalty'],
  ...['logprobs', 'top_logprobs', 'best_of', 'ignore_eos', 'stop_token_ids', 'skip_special_tokens'],
  ...['response_format', 'format', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
  ...['reasoning', 'reasoning_effort', 'include_reasoning', 'thinking', 'thinking_budget', 'enable_thinking'],
  ...['verbosity', 'modalities', 'audio', 'prediction', 'tool_choice', 'parallel_tool_calls', 'functions'],
  ...['function_call', 'stream_options', 'web_search_options', 'plugins', 'transforms', 'models', 'route'],
  ...['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'safety_settings', 'options'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'cache_control', 'extra_body', 'chat_template_kwargs'],
]
