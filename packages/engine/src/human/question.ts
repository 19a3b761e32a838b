import { randomUUID } from 'node:crypto'
import { isTooDeep } from '@delta/executor'
import type { HumanInputRequest } from '@delta/journal/runs'
import type { FunctionTool } from '@delta/model'
import type { Question } from '../outcome.js'

export const ASK_HUMAN = 'ask_human'

const INPUT_TYPES = ['text', 'password', 'confirmation'] as const

const PROPERTIES = {
  prompt: { type: 'string', description: 'Question or instruction to display to user' },
  input_type: {
    type: 'string',
    enum: [...INPUT_TYPES],
    description: 'Input type: text | password | confirmation',
  },
  sensitive: {
    type: 'boolean',
    description: 'Whether input is sensitive (should hide input characters)',
  },
}

/** The one tool that is not a command. Every agent has it. */
export const askHumanTool: FunctionTool = {
  type: 'function',
  function: {
    name: ASK_HUMAN,
    description: 'Request input from human user. Execution pauses until response received.',
    parameters: {
      type: 'object',
      properties: PROPERTIES,
      required: ['prompt'],
      additionalProperties: false,
    },
  },
}

/** The same for strict mode: every parameter is required, and null stands for what is left out. */
export const strictAskHumanTool: FunctionTool = {
  type: 'function',
  function: {
    ...askHumanTool.function,
    strict: true,
    parameters: {
      ...askHumanTool.function.parameters,
      properties: {
        ...PROPERTIES,
        input_type: { ...PROPERTIES.input_type, type: ['string', 'null'], enum: [...INPUT_TYPES, null] },
        sensitive: { ...PROPERTIES.sensitive, type: ['boolean', 'null'] },
      },
      required: Object.keys(PROPERTIES),
    },
  },
}

/** Parses the model's arguments: the question, or a text that tells the model what is wrong with them. */
export function parseQuestion(text: string): Question | string {
  const args = parseObject(text)
  if (!args) return 'ask_human needs a JSON object such as {"prompt":"Which file?"}.'

  const { prompt, sensitive } = args
  const inputType = args.input_type ?? 'text' // strict mode says null for what is left out
  if (typeof prompt !== 'string' || prompt === '') {
    return 'ask_human needs a "prompt": the question to show to the person.'
  }
  if (!isInputType(inputType)) return `ask_human: "input_type" must be one of ${INPUT_TYPES.join(', ')}.`
  const isSaid = (value: boolean) => sensitive === value || sensitive === String(value)
  const isSecret = isSaid(true) || (inputType === 'password' && !isSaid(false))
  return { requestId: randomUUID(), prompt, inputType, sensitive: isSecret }
}

/** Whether a text answers a confirmation: it begins with yes or no, `y` or `n`; more may follow ("yes, proceed"). */
export function isYesOrNo(answer: string): boolean {
  return typeof answer === 'string' && /^\s*(?:yes|y|no|n)(?=[\s,.;:!]|$)/i.test(answer)
}

/** A journaled question as it was asked. */
export function questionOf(request: HumanInputRequest): Question {
  return {
    requestId: request.request_id ?? randomUUID(),
    prompt: request.prompt,
    inputType: isInputType(request.input_type) ? request.input_type : 'text',
    sensitive: request.sensitive ?? false,
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isTooDeep(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined // the caller tells the model what is wanted
  }
}

function isInputType(value: unknown): value is Question['inputType'] {
  return INPUT_TYPES.some((type) => type === value)
}
