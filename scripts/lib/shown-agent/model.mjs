// A model by rules: it answers the request on stdin, and counts tokens as a provider with a cache of prefixes would.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const RIGHT = Object.entries({
  double: '$1 * 2',
  triple: '$1 * 3',
  square: '$1 * $1',
  cube: '$1 * $1 * $1',
  half: '$1 / 2',
  negate: '0 - $1',
  next: '$1 + 1',
  previous: '$1 - 1',
  sum: '$1 + $2',
  difference: '$1 - $2',
  product: '$1 * $2',
  remainder: '$1 % $2',
})

/** @type {{ tools: object[], messages: { role: string }[] }} */
const request = JSON.parse(readFileSync(0, 'utf8'))
const step = request.messages.filter(({ role }) => role === 'assistant').length
const { content, name, parameters } = answerAt(step)
const text = JSON.stringify([request.tools, request.messages])
const cache = join(homedir(), 'cache')
const before = existsSync(cache) ? readFileSync(cache, 'utf8') : ''
let same = 0
while (same < text.length && text[same] === before[same]) same += 1
writeFileSync(cache, text)
const prompt = Math.ceil(text.length / 4)
const cached = Math.floor(same / 256) * 64
const call = {
  id: `call_${step + 1}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(parameters) },
}
console.log(
  JSON.stringify({
    model: 'sample-model-1',
    choices: [{ message: { role: 'assistant', content, ...(name && { tool_calls: [call] }) } }],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: Math.ceil((content.length + JSON.stringify(call).length) / 4),
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: prompt - cached },
    },
  }),
)

/**
 * @param {number} number how many answers there were before
 * @returns {{ content: string, name?: string, parameters?: object }} what the model says, and the call that it makes
 */
function answerAt(number) {
  if (number === 0) return { content: 'First I look at what is here.', name: 'list_files', parameters: {} }
  const all = { name: 'check', parameters: { name: 'all' } }
  if (number === 1) return { content: 'Which of them are wrong?', ...all }
  const [which, kind] = [Math.floor((number - 2) / 3), (number - 2) % 3]
  const [title, sum] = RIGHT[which] ?? []
  if (title === undefined)
    return kind === 0
      ? { content: 'Every function is repaired. I check them all once more.', ...all }
      : { content: 'All twelve functions in lib/ are right: `sh check.sh all` finds nothing wrong.' }
  const file = `lib/${title}.sh`
  if (kind === 0) return { content: `Now ${title}.`, name: 'read_file', parameters: { file } }
  if (kind === 2) return { content: '', name: 'check', parameters: { name: title } }
  const parameters = { file, content: `echo $(( ${sum} ))\n` }
  return { content: `It should be ${sum}.`, name: 'write_file', parameters }
}
