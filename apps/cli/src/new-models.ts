/** A model that `delta init --provider` can write. */
export interface NewModel {
  /** The lines of `llm` in agent.yaml. */
  llm: readonly string[]
  /** The variable of its key; undefined for a model that needs none. */
  key: string | undefined
  /** The provider caches only what a request marks. */
  marksCache?: true
}

/** What `--provider` can name. */
export const NEW_MODELS: Readonly<Record<string, NewModel>> = {
  openai: { llm: ['model: gpt-4o'], key: 'OPENAI_API_KEY' },
  'openai-responses': { llm: ['api: responses', 'model: gpt-5.6'], key: 'OPENAI_API_KEY' },
  anthropic: {
    llm: [
      'provider: anthropic',
      'model: claude-sonnet-5',
      'max_tokens: 16000 # the most tokens one answer may have',
    ],
    key: 'ANTHROPIC_API_KEY',
    marksCache: true,
  },
  local: {
    llm: [
      'base_url: http://127.0.0.1:11434/v1 # Ollama; any server with a chat-completions API',
      'model: qwen3',
    ],
    key: undefined,
  },
}
