// A loop of your own, with the OpenAI client: every step is in your hands.
import { dispatch, toOpenAITools } from '@delta/tool-adapters'
import OpenAI from 'openai'
import { tools } from './tools.mjs'

const client = new OpenAI() // OPENAI_API_KEY, OPENAI_BASE_URL

/** @type {OpenAI.ChatCompletionMessageParam[]} */
const messages = [{ role: 'user', content: process.argv[2] ?? 'Which files are here?' }]
for (let turn = 0; turn < 10; turn++) {
  const { choices } = await client.chat.completions.create({
    model: process.env.MODEL ?? 'gpt-4o-mini',
    messages,
    tools: toOpenAITools(tools),
  })
  const message = choices[0]?.message
  if (!message) throw new Error('The model sent no message')
  // Whatever it asked for is answered: failures, refusals and timeouts too.
  const answers = await dispatch(tools, message, { concurrency: 4 })
  messages.push(message, ...answers)
  if (answers.length === 0) {
    console.log(message.content)
    break
  }
}
