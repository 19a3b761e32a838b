import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { isConfigError, loadAgent, readPrices } from '../src/index.js'

const MAIN = 'name: a\nllm: { model: m }\n'

async function agentWith(text: string) {
  const files = { 'agent.yaml': MAIN + text, 'context.yaml': 'sources: [{ type: journal }]\n' }
  const { path } = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  return path
}

async function mistakesIn(text: string): Promise<string> {
  const home = await agentWith(text)
  return loadAgent(home, { shownAs: '' }).then(
    () => 'nothing',
    (error: Error) => error.message,
  )
}

test('an agent says what its model costs', async () => {
  const home = await agentWith('prices: [{ match: my-*, input: 3, output: 15 }]\n')
  const { agent } = await loadAgent(home)
  expect(agent.prices).toEqual([{ match: 'my-*', input: 3, output: 15 }])
})

test.each([
  [
    'prices: [{ match: m, inputs: 2, input: 1, output: 1 }]',
    'prices[0]: unknown key "inputs".',
    'Did you mean "input"?',
  ],
  ['prices: [{ match: m, input: -1, output: 1 }]', 'prices[0].input: must be at least 0, got -1.', '^'],
  ['prices: [{ match: m, input: 1 }]', 'prices[0]: "output" is missing', 'Add "output:"'],
  [
    'prices: [{ match: "*m", input: 1, output: 1 }]',
    'must be a name, or the beginning of names with a *',
    '^',
  ],
])('%s is refused where it stands', async (text, message, hint) => {
  const mistakes = await mistakesIn(`${text}\n`)
  expect(mistakes).toContain(message)
  expect(mistakes).toContain(hint)
})

test('a file of prices is a list of rows; what is wrong in it is shown with its line', async () => {
  const files = {
    'good.yaml':
      '- { match: m*, input: 1, cache_read: 0.1, output: 2, above: { 200000: { input: 2, output: 3 } } }\n',
    'bad.yaml': '- { match: m*, input: 1, output: 2 }\n- { match: m*, input: 1, outputs: 2, output: 1 }\n',
    'twice.yaml': '- { match: m*, input: 1, output: 2 }\n- { match: m*, input: 1, output: 1 }\n',
  }
  const { path } = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  expect(readPrices(`${path}/good.yaml`)).toMatchObject([{ match: 'm*', above: { 200000: { input: 2 } } }])
  expect(() => readPrices(`${path}/none.yaml`)).toThrow(`${path}/none.yaml: The file does not exist.`)
  expect(() => readPrices(`${path}/bad.yaml`)).toThrow('bad.yaml:2:26: [1]: unknown key "outputs".')
  const overlap = `${path}/twice.yaml:2:12: [1].match: models "m*" and "m*" overlap. Remove one.`
  expect(() => readPrices(`${path}/twice.yaml`)).toThrow(overlap)
  try {
    readPrices(`${path}/none.yaml`)
  } catch (error) {
    expect(isConfigError(error)).toBe(true)
  }
})

test('everything that is wrong in a file of prices is reported at once', async () => {
  const text = `- { match: gpt-5*, input: 1, output: 2, above: { many: { input: 1, output: 2 } } }
- { match: gpt-5*, input: -1, output: 2, cache_reed: 1 }
`
  const { path } = await temporaryWorkspace({ 'prices.yaml': text }, { onCleanup: onTestFinished })
  expect(() => readPrices(`${path}/prices.yaml`)).toThrow(
    `${path}/prices.yaml:1:56: [0].above.many: the key must be a number of tokens.
  - { match: gpt-5*, input: 1, output: 2, above: { many: { input: 1, output: 2 } } }
                                                         ^

${path}/prices.yaml:2:12: [1].match: models "gpt-5*" and "gpt-5*" overlap. Remove one.
  - { match: gpt-5*, input: -1, output: 2, cache_reed: 1 }
             ^

${path}/prices.yaml:2:27: [1].input: must be at least 0, got -1.
  - { match: gpt-5*, input: -1, output: 2, cache_reed: 1 }
                            ^

${path}/prices.yaml:2:42: [1]: unknown key "cache_reed".
  - { match: gpt-5*, input: -1, output: 2, cache_reed: 1 }
                                           ^
Did you mean "cache_read"?

4 problems.`,
  )
})
