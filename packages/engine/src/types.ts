/** The five states of a run; `RUNNING` means that a live process owns it. */
export type RunStatus = 'RUNNING' | 'WAITING_FOR_INPUT' | 'COMPLETED' | 'FAILED' | 'INTERRUPTED'

/** Tokens as the provider counted them, added up over a run. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}
