import { openAiModel } from '@delta/model/openai'
import { measure } from './measure.mjs'

await measure(async (baseUrl) => {
  const model = openAiModel({ baseUrl })
  return async (body) => (await model.complete(body)).message
})
