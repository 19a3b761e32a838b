import { writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventsOf, scene } from './run.js'

test('a run that another engine completes while this one prepares to continue it is not asked for more', async () => {
  const { run, resume, load } = await scene({ turns: [{ content: 'Done.' }] })
  const result = await run()
  const path = join(result.runDirectory, 'journal.jsonl')
  const whole = await readFile(path, 'utf8')
  const interrupted = whole.split('\n').slice(0, 2).join('\n')
  await writeFile(path, `${interrupted}\n`)

  const { llm, ...agent } = await load()
  const settings = {
    ...llm,
    get provider() {
      writeFileSync(path, whole) // the model is made after the run was looked at, and before it is taken
      return llm.provider
    },
  }
  const resumed = resume({ agent: { ...agent, llm: settings } })
  await expect(resumed).rejects.toMatchObject({ code: 'ERR_ENGINE_MESSAGE_REQUIRED' })
  const types = (await eventsOf(result)).map(({ type }) => type)
  expect(types).toEqual(['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ENGINE_END'])
})
