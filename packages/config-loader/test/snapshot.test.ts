import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { load, MINIMAL } from './agents.js'

test('a run keeps the resolved agent.yaml, and the other files as they are', async () => {
  const { agent } = await load({
    'agent.yaml': `${MINIMAL['agent.yaml']}imports: [tools.yaml]\n`,
    'tools.yaml': 'tools:\n  - { name: list, exec: "ls ${directory}" }\n',
    'hooks.yaml': '# mine\non_error: { command: [x] }\n',
  })
  const { files, config } = agent.snapshot
  expect(Object.keys(files).sort()).toEqual(['agent.yaml', 'context.yaml', 'hooks.yaml', 'system_prompt.md'])
  expect(files['hooks.yaml']).toBe('# mine\non_error: { command: [x] }\n')
  expect(files['system_prompt.md']).toBe('You test.\n')
  expect(parse(files['agent.yaml'] ?? '')).toEqual(config)
  expect(config).toMatchObject({ name: 'tester', tools: [{ name: 'list', command: ['ls'] }] })
  expect(config).not.toHaveProperty('imports')
})

test('values whose names say that they are secret are masked: the snapshot is written into every run', async () => {
  const { agent } = await load({
    'agent.yaml': `${MINIMAL['agent.yaml']}tools:
  - name: push
    exec: push
    env: { GITHUB_TOKEN: ghp_1, MODE: fast, DB_PASSWORD: p }
  - name: open
    exec: open
    env: { DOOR_PASSWORD: 31415926, FLOOR: 3 }
`,
  })
  expect(agent.tools.get('push')?.settings.env).toMatchObject({ GITHUB_TOKEN: 'ghp_1' })
  expect(agent.snapshot.config).toMatchObject({
    tools: [
      { env: { GITHUB_TOKEN: '***', MODE: 'fast', DB_PASSWORD: '***' } },
      { env: { DOOR_PASSWORD: '***', FLOOR: 3 } },
    ],
  })
  expect(JSON.stringify(agent.snapshot)).not.toMatch(/ghp_1|31415926/)
})

test('the same files give the same snapshot', async () => {
  const { agent: one } = await load()
  const { agent: two } = await load()
  expect(one.snapshot).toEqual(two.snapshot)
})
