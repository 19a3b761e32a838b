import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadAgent } from '@delta/config-loader'
import { expect, test } from 'vitest'
import { findRun } from '../src/index.js'
import { agentChanges } from '../src/internal.js'
import { eventsOfType, scene } from './run.js'

test('a run keeps what was set in its agent: continueRun loads the agent with it again', async () => {
  const { agentFiles, workspace, run, resume } = await scene({
    turns: [{ content: 'One.' }, { content: 'Two.' }],
  })
  const overrides = ['max_iterations=7', 'context.sources.system_prompt=']
  const { agent } = await loadAgent(agentFiles.path, { environment: {}, overrides })
  await run({ agent })
  const result = await resume({ agent: undefined, message: 'More' })
  expect(await eventsOfType(result, 'ENGINE_START')).toMatchObject([
    { overrides, max_iterations: 7 },
    { overrides, max_iterations: 7 },
  ])
  expect((await eventsOfType(result, 'ENGINE_START'))[1]).not.toHaveProperty('changed_files')
  expect(await findRun(workspace.path)).toMatchObject({ overrides, model: 'script' })
})

test('agentChanges names the files of an agent that are not as they were at the last start', async () => {
  const { agentFiles, workspace, run, load } = await scene({})
  await run()
  const summary = await findRun(workspace.path)
  expect(summary.overrides).toEqual([])
  expect(agentChanges(summary, await load())).toBeUndefined()
  await writeFile(join(agentFiles.path, 'system_prompt.md'), 'Another.\n')
  expect(agentChanges(summary, await load())).toBe(
    'Changed since this run was last started: system_prompt.md',
  )
})
