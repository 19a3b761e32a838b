/** Used where `llm` says nothing. */
export const LLM_DEFAULTS = {
  baseUrl: 'https://api.openai.com/v1',
  /** How long a server may be silent. */
  timeoutMs: 600_000,
  /** Attempts in all, the first included. */
  maxAttempts: 5,
  /** Whether tools are offered in strict mode. */
  strictTools: false,
} as const
