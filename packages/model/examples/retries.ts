import { setTimeout as wait } from 'node:timers/promises'
import {
  type ChatModel,
  type ChatRequest,
  type ChatResponse,
  ModelError,
  retryDelayMs,
  scriptModel,
} from '@delta/model'

async function ask(model: ChatModel, request: ChatRequest, attempt = 1): Promise<ChatResponse> {
  try {
    return await model.complete(request)
  } catch (error) {
    const delayMs = attempt < 5 ? retryDelayMs(attempt, error) : undefined
    if (delayMs === undefined) throw error
    console.log(`attempt ${attempt}: ${String(error)}`)
    await wait(delayMs)
    return ask(model, request, attempt + 1)
  }
}

// Stands for a server that is busy twice; with a real one, model is openAiModel({ apiKey, baseUrl }).
const answers = scriptModel([{ content: 'At last.' }])
let requests = 0
const model: ChatModel = {
  async complete(request) {
    if (++requests > 2) return answers.complete(request)
    throw new ModelError('ERR_MODEL_RATE_LIMIT', 'Too many requests.', { retryable: true, retryAfterMs: 10 })
  },
}
const { message } = await ask(model, { model: 'any', messages: [{ role: 'user', content: 'Hello?' }] })
console.log(message.content)
