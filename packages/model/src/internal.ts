// For the other packages of Delta: may change in any release.
export { isPlain, LLM_DEFAULTS, textOf } from './chat.js'
export { asModelError } from './failure.js'
export { findLlmProblems, LLM_HINTS, type LlmSettings, llmKeys, llmSchema, llmSettings } from './llm.js'
export { providerAt } from './price-apis.js'
export { FREE, type PriceRow, priceRowsSchema } from './price-rows.js'
export { replaceLoneSurrogates } from './response.js'
export { SCRIPT_HINT, scriptSchema } from './script.js'
export { fromWire, toWire } from './wire.js'
