import * as z from 'zod/mini'

const PROVIDERS = ['openai', 'command', 'script', 'replay'] as const

export const WORDS_HINT = 'One element for each word: [python3, model.py].'

/** Exported for its JSON Schema; `parseLlm` is what reads a value. */
export const llmSchema = z
  .looseObject({
    provider: z
      ._default(z.enum(PROVIDERS, `Must be one of ${PROVIDERS.join(', ')}`), 'openai')
      .check(z.describe('Who answers. Every server that speaks chat completions is openai with a base_url.')),
    model: z.optional(text('Must be the name of a model').check(z.describe('As the API calls the model.'))),
    base_url: z.optional(
      text('Must be a URL').check(
        z.describe('Where /chat/completions is appended, usually …/v1. Default: https://api.openai.com/v1'),
      ),
    ),
    script: z.optional(
      text('Must be the path of a YAML file').check(
        z.describe('With provider: script, the file with the turns.'),
      ),
    ),
    command: z.optional(
      z
        .array(z.string('Must be text'), 'Must be a list of words')
        .check(
          z.minLength(1, 'Must name a program'),
          z.describe('With provider: command, the program that answers, and its arguments.'),
        ),
    ),
    timeout_ms: z.optional(
      wholeNumber(0, 'Must be a whole number of milliseconds, 0 for no limit').check(
        z.describe(
          'How long the server may be silent, by default 600000; with provider: command, how long one answer may take, by default without end. 0 is no limit.',
        ),
      ),
    ),
    max_attempts: z.optional(
      wholeNumber(1, 'Must be a whole number, at least 1').check(
        z.describe('How often a request is tried in all. Default: 5'),
      ),
    ),
    strict_tools: z.optional(
      z
        .boolean('Must be true or false')
        .check(
          z.describe(
            'true: tools are offered in strict mode, in which a server keeps the model to their parameters; what is optional may be null. Default: false',
          ),
        ),
    ),
  })
  .check(
    z.describe(
      'Who answers, and how. Every other key is a parameter of the API, such as temperature or max_tokens, and is sent as it is.',
    ),
  )

/** The keys of `llm` that are settings of ours; every other one is a parameter of the API. */
export const LLM_KEYS: readonly string[] = Object.keys(llmSchema.shape)

function text(message: string) {
  return z.string(message).check(z.minLength(1, message))
}

function wholeNumber(least: number, message: string) {
  return z.int(message).check(z.gte(least, message))
}
