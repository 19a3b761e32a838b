import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { DEFAULT_CONTEXT_YAML } from '../src/internal.js'
import { agentOf, complaint, complaintAbout, directoryOf, load, MINIMAL, texts } from './agents.js'

const SOURCES = String(MINIMAL['context.yaml']).replace('sources:\n', '')
const withPrompt = (path: string) => `${MINIMAL['agent.yaml']}system_prompt: ${path}\n`

test('the file that system_prompt names must be there', async () => {
  expect(
    await complaint({ 'agent.yaml': withPrompt('promt.md') }),
  ).toContain(`agent/agent.yaml:3:16: system_prompt: the file "promt.md" does not exist.
  system_prompt: promt.md
                 ^
Write the agent's instructions into agent/promt.md, or name the file of the agent's directory that holds them.`)
})

test.each(['|\n  You are helpful.\n  Be brief.', 'You are helpful.'])(
  'a text in place of a file name is understood: %j',
  async (text) => {
    expect(await complaint({ 'agent.yaml': withPrompt(text) })).toMatch(
      /system_prompt: names a file; this is a text\.\n.*\n.*\nSave the text as system_prompt\.md and write: system_prompt: system_prompt\.md/,
    )
  },
)

test('a file of instructions may have any name', async () => {
  const { agent } = await load({ 'agent.yaml': withPrompt('What to do.'), 'What to do.': 'Count.' })
  expect(agent.snapshot.files['What to do.']).toBe('Count.')
})

test('the prompt may not lead out of the agent, and not to a secret of the machine', async () => {
  const outside = await directoryOf({ 'secret.md': 'x' })
  const home = await agentOf({ 'agent.yaml': withPrompt('link.md') })
  await symlink(join(outside, 'secret.md'), join(home, 'link.md'))
  expect(await complaintAbout(home)).toContain(`system_prompt: "link.md" leads out of the agent's directory.`)
  expect(await complaint({ 'agent.yaml': withPrompt('../../../../../../etc/passwd') })).toContain(
    `leads out of the agent's directory.`,
  )
})

test('a prompt that no source reads is pointed out, for the model will not see it', async () => {
  const { warnings, home } = await load({ 'context.yaml': 'sources:\n  - { type: journal }\n' })
  expect(texts(warnings, home)).toEqual([
    "agent/context.yaml:1: No source reads system_prompt.md; the model will not see it. Add a source: { type: file, path: '${AGENT_HOME}/system_prompt.md' }",
  ])
})

test('a source that must be there and is not is found before the first run', async () => {
  const text = `sources:\n  - { type: file, path: '\${AGENT_HOME}/docs/api.md' }\n${SOURCES}`
  expect(await complaint({ 'context.yaml': text })).toBe(
    `agent/context.yaml:2:25: agent/docs/api.md does not exist.
  - { type: file, path: '\${AGENT_HOME}/docs/api.md' }
                        ^
Create the file, or say that it may be missing: on_missing: skip`,
  )
})

test('a source that may be missing, is conditional, is computed or lies in the workspace is not looked for', async () => {
  const { warnings } = await load({
    'context.yaml': `sources:
  - { type: file, path: '\${AGENT_HOME}/system_prompt.md' }
  - { type: file, path: '\${AGENT_HOME}/a.md', on_missing: skip }
  - { type: file, path: '\${AGENT_HOME}/b.md', condition: { when: env_set, name: B } }
  - { type: computed_file, output_path: '\${AGENT_HOME}/c.md', generator: { command: [c] } }
  - { type: file, path: '\${AGENT_HOME}/c.md' }
  - { type: file, path: '\${CWD}/DELTA.md' }
  - { type: journal }
`,
  })
  expect(warnings).toEqual([])
})

test('mistakes in context.yaml have their line, and unknown keys are warnings there, too', async () => {
  expect(await complaint({ 'context.yaml': 'sources:\n  - { type: jurnal }\n' })).toBe(
    `agent/context.yaml:2:13: sources[0].type: must be one of file, text, computed_file, journal, not "jurnal".
  - { type: jurnal }
            ^
Did you mean "journal"?`,
  )
  const { warnings, home } = await load({
    'context.yaml': `${MINIMAL['context.yaml']}total_max_token: 8000\n`,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/context.yaml:4: unknown key "total_max_token". Did you mean "total_max_tokens"?',
  ])
})

test('the default context.yaml loads as it is, and sends the prompt, the guide of the workspace and everything said', async () => {
  const { agent, warnings } = await load({ 'context.yaml': DEFAULT_CONTEXT_YAML })
  expect(warnings).toEqual([])
  expect(agent.manifest).toEqual({
    sources: [
      { type: 'file', id: 'system_prompt', path: '${AGENT_HOME}/system_prompt.md', onMissing: 'error' },
      { type: 'file', id: 'workspace_guide', path: '${CWD}/DELTA.md', onMissing: 'skip' },
      { type: 'journal', id: 'conversation_history' },
    ],
  })
})

test('what the message about a missing context.yaml offers can be pasted, whatever the prompt file is called', async () => {
  const files = { 'agent.yaml': withPrompt("it's me.md"), "it's me.md": 'Hi.' }
  const message = await complaint({ ...files, 'context.yaml': undefined })
  const offered = message.slice(message.indexOf('sources:'), message.indexOf('\n\nFor more'))
  expect((parse(offered) as { sources: { path?: string }[] }).sources[0]?.path).toBe(
    "${AGENT_HOME}/it's me.md",
  )
  expect((await load({ ...files, 'context.yaml': offered })).warnings).toEqual([])
})
