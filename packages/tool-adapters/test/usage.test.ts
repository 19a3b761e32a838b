import { expect, test } from 'vitest'
import { createRunner, toOpenAITools } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

test.each([
  ['createRunner', createRunner],
  ['toOpenAITools', toOpenAITools],
])('tools that are none are refused by name: %s', (name, use) => {
  for (const tools of [undefined, 'tools.yaml', [{ name: 'say', exec: 'echo' }]]) {
    expect(() => use(tools as never)).toThrow(
      `${name}: the list of tools is missing, or not what it must be.\nPass what defineTool of @delta/executor makes, in a list.`,
    )
  }
})
