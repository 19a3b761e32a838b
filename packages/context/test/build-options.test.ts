import { expect, test } from 'vitest'
import { buildContext } from '../src/index.js'
import { placeWith } from './place.js'

test('with a variable that is a relative path nothing is built, and the variable is named', async () => {
  const { options } = await placeWith()
  const relative = { ...options, variables: { ...options.variables, CWD: 'work' } }
  await expect(buildContext({ sources: [{ type: 'journal' }] }, relative)).rejects.toMatchObject({
    code: 'ERR_CONTEXT_USAGE',
    message: 'The variable CWD must be an absolute path, not work.',
  })
})
