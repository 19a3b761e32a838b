import { join } from 'node:path'
import { interruptPolicy } from '@delta/executor'
import { expect, test } from 'vitest'
import { complaint, load, MINIMAL, texts } from './agents.js'

const GH = JSON.stringify({
  atip: '0.6',
  name: 'gh',
  version: '2.0.0',
  description: 'GitHub on the command line',
  trust: { source: 'vendor' },
  commands: {
    pr: {
      description: 'Pull requests',
      commands: {
        list: { description: 'List them', effects: { network: true, idempotent: true }, options: [] },
        merge: {
          description: 'Merge one',
          arguments: [{ name: 'number', type: 'integer', description: 'Which' }],
          effects: { network: true, reversible: false },
        },
      },
    },
  },
})
const importing = (entry: string) => `${MINIMAL['agent.yaml']}imports:\n  - ${entry}\n`

test('a program that describes itself is imported by its description', async () => {
  const { agent } = await load({ 'agent.yaml': importing('./gh.atip.json'), 'gh.atip.json': GH })
  expect([...agent.tools.keys()]).toEqual(['gh_pr_list', 'gh_pr_merge'])
  const merge = agent.tools.get('gh_pr_merge')
  expect(merge?.expanded.command).toEqual(['gh', 'pr', 'merge'])
  expect(merge?.settings).toMatchObject({ trust: 'inferred', effects: { network: true, reversible: false } })
})

test('the importer chooses commands, a prefix, and how far the description is trusted', async () => {
  const entry = '{ atip: ./gh.atip.json, commands: [pr list], trust: org, prefix: github }'
  const { agent } = await load({ 'agent.yaml': importing(entry), 'gh.atip.json': GH })
  expect([...agent.tools.keys()]).toEqual(['github_pr_list'])
  expect(agent.tools.get('github_pr_list')?.settings.trust).toBe('org')
})

test('a description that is none, and a command that it does not have, are explained', async () => {
  const list = { 'gh.atip.json': GH, 'tools.yaml': 'tools: []\n' }
  expect(
    await complaint({ ...list, 'agent.yaml': importing('{ atip: gh.atip.json, commands: [issue] }') }),
  ).toContain('agent/agent.yaml:4:38: imports[0].commands[0]: There is no command "issue".')
  expect(await complaint({ ...list, 'agent.yaml': importing('{ atip: tools.yaml }') })).toContain(
    'agent/agent.yaml:4:5: imports[0]: agent/tools.yaml is not an ATIP file: it has no "atip" member.',
  )
  expect(await complaint({ 'agent.yaml': importing('x.json'), 'x.json': '{"atip":"0.6"}' })).toContain(
    'agent/x.json:1:1: Missing required field "name"',
  )
})

test('a mistake in the import itself is shown there', async () => {
  const message = await complaint({
    'agent.yaml': importing('{ atip: gh.atip.json, trust: full }'),
    'gh.atip.json': GH,
  })
  expect(message).toContain(
    'imports[0].trust: must be one of native, vendor, org, community, user, inferred, not "full".',
  )
})

test('two programs with a command of one name are refused: no import chooses silently between them', async () => {
  const other = GH.replace('"name":"gh"', '"name":"gh","binary":"other-gh"')
  const both = (entry: string) => ({
    'agent.yaml': `${importing('./gh.atip.json')}  - ${entry}\n`,
    'gh.atip.json': GH,
    'other.atip.json': other,
  })
  const message = await complaint(both('./other.atip.json'))
  expect(message).toContain(
    'agent/other.atip.json: "gh_pr_list" would be two commands: one of this file and one of agent/gh.atip.json.',
  )
  expect(message).toContain('Give one import a "prefix:", or choose its "commands:".')

  const { agent } = await load(both('{ atip: other.atip.json, prefix: other }'))
  expect([...agent.tools.keys()]).toEqual(['gh_pr_list', 'gh_pr_merge', 'other_pr_list', 'other_pr_merge'])
})

test('one program imported twice, and a tool of the author with a name of its, replace as ever', async () => {
  const twice = `${importing('./gh.atip.json')}  - { atip: gh.atip.json, trust: org, commands: [pr list] }\n`
  const own = 'tools:\n  - { name: gh_pr_merge, exec: "gh pr merge --squash" }\n'
  const { agent } = await load({ 'agent.yaml': `${twice}${own}`, 'gh.atip.json': GH })
  expect(agent.tools.get('gh_pr_list')?.settings.trust).toBe('org')
  expect(agent.tools.get('gh_pr_merge')?.expanded.command).toEqual(['gh', 'pr', 'merge', '--squash'])
})

test.each(['./bin/gh', 'bin/gh'])(
  'the program %s is found from its description, wherever the agent works',
  async (path) => {
    const tools = { 'tools/gh.atip.json': GH.replace('"name":"gh"', `"name":"gh","binary":"${path}"`) }
    const { agent } = await load({ 'agent.yaml': importing('./tools/gh.atip.json'), ...tools })
    expect(agent.tools.get('gh_pr_list')?.expanded.command[0]).toBe(join(agent.home, 'tools/bin/gh'))
  },
)

test('a program named without a directory is left to the PATH, also if a file of that name lies beside its description', async () => {
  const tools = { 'gh.atip.json': GH.replace('"name":"gh"', '"name":"gh","binary":"hub"'), hub: '' }
  const { agent } = await load({ 'agent.yaml': importing('./gh.atip.json'), ...tools })
  expect(agent.tools.get('gh_pr_list')?.expanded.command[0]).toBe('hub')
})

test('a description of a version that nobody here knows is used, and said to be of one', async () => {
  const newer = GH.replace('"0.6"', '"0.10"')
  const { agent, warnings, home } = await load({
    'agent.yaml': importing('./gh.json'),
    'gh.json': newer,
  })
  expect(agent.tools.size).toBe(2)
  expect(texts(warnings, home)).toEqual([
    'agent/gh.json:1: This is ATIP 0.10; what is newer than 0.6 in it has no effect here.',
  ])
})

test('an import of no commands is not silent', async () => {
  const files = { 'gh.json': GH, 'none.json': JSON.stringify({ ...JSON.parse(GH), commands: {} }) }
  const agentYaml = importing('{ atip: gh.json, commands: [] }\n  - ./none.json')
  const { warnings, home } = await load({ 'agent.yaml': agentYaml, ...files })
  expect(texts(warnings, home)).toEqual([
    `agent/agent.yaml:4: imports[0]: nothing is imported from ${home}/gh.json.`,
    `agent/agent.yaml:5: imports[1]: nothing is imported from ${home}/none.json.`,
  ])
})

test('an import says effects that count in place of those of the file: by the name of a tool, or * for all', async () => {
  const effects = '{ "*": { destructive: false }, gh_pr_merge: { reversible: true, idempotent: true } }'
  const entry = `{ atip: ./gh.atip.json, effects: ${effects} }`
  const { agent } = await load({ 'agent.yaml': importing(entry), 'gh.atip.json': GH })
  expect(agent.tools.get('gh_pr_list')?.settings.effects).toEqual({
    network: true,
    idempotent: true,
    destructive: false,
  })
  const merge = agent.tools.get('gh_pr_merge')
  expect(merge?.settings.effects).toEqual({
    network: true,
    reversible: true,
    idempotent: true,
    destructive: false,
  })
  // the author's word, not that of the program
  expect(merge && interruptPolicy(merge)).toBe('rerun')
})

test('effects of a tool that is not imported, and keys and values that are none, are refused where they are written', async () => {
  const complain = (effects: string) =>
    complaint({
      'agent.yaml': importing(`{ atip: ./gh.atip.json, effects: ${effects} }`),
      'gh.atip.json': GH,
    })
  expect(await complain('{ gh_pr_lst: { network: false } }')).toContain(
    'agent/agent.yaml:4:40: imports[0].effects: no tool of this import is called "gh_pr_lst".',
  )
  expect(await complain('{ gh_pr_lst: { network: false } }')).toContain('Did you mean "gh_pr_list"?')
  expect(await complain('{ gh_pr_list: { network: maybe } }')).toContain(
    'agent/agent.yaml:4:63: imports[0].effects.gh_pr_list.network: must be true or false, not "maybe".',
  )
  const { warnings, home } = await load({
    'agent.yaml': importing('{ atip: ./gh.atip.json, effects: { gh_pr_list: { netwrk: false } } }'),
    'gh.atip.json': GH,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:4: imports[0].effects.gh_pr_list: unknown key "netwrk". Did you mean "network"?',
  ])
})
