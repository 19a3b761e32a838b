export { type AdapterError, type AdapterErrorCode, isAdapterError } from './errors.js'
export {
  type DispatchOptions,
  dispatch,
  type MessageWithCalls,
  type ToolMessage,
  toOpenAITools,
} from './openai.js'
export { type AdapterOptions, createRunner, type MediaOptions, type Runner } from './runner.js'
