import { expect, test } from 'vitest'
import { scene } from './run.js'

test('a relative workspace starts nothing: commands would run elsewhere after a change of directory', async () => {
  const { run, resume } = await scene({})
  const refusal = { code: 'ERR_ENGINE_USAGE', message: 'workDirectory work is not an absolute path.' }
  await expect(run({ workDirectory: 'work' })).rejects.toMatchObject(refusal)
  await expect(resume({ workDirectory: 'work' })).rejects.toMatchObject(refusal)
})

test('a run that nobody says is trusted is not continued, since its journal names what is run', async () => {
  const { resume } = await scene({})
  await expect(resume({ trusted: undefined as never })).rejects.toMatchObject({
    code: 'ERR_ENGINE_USAGE',
    message: expect.stringContaining('Pass trusted: true if you started the run'),
  })
})
