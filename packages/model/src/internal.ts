// For the other packages of Delta: may change in any release.
export { isPlain, LLM_DEFAULTS, textOf } from './chat.js'
export { asModelError } from './failure.js'
export { type LlmSettings, llmKeys, llmSchema, safeParseLlm } from './llm.js'
export { replaceLoneSurrogates } from './response.js'
export { safeParseScript } from './script.js'
export { fromWire, toWire } from './wire.js'
