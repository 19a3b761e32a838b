import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const HERE = 'packages/config-loader/test/compatibility.test.ts'

/** Every row of the tables of changes up to version 1.9.1: what changed, and the test that holds what becomes of it. */
const ROWS: [change: string, file: string, title: string][] = [
  ['1.9: agent.yaml comes first', HERE, 'agent.yaml is the main file'],
  ['1.9: config.yaml still works', HERE, 'config.yaml still works, with a deprecation warning'],
  ['1.9: both are there', HERE, 'of agent.yaml and config.yaml the first is used, with a warning'],
  ['1.9: hooks.yaml comes first', HERE, 'of hooks.yaml and lifecycle_hooks the file is used, with a warning'],
  [
    '1.9: hooks bare or wrapped',
    HERE,
    'hooks.yaml is read with and without lifecycle_hooks around the hooks',
  ],
  [
    '1.9: lifecycle_hooks in the main file',
    HERE,
    '%s in the main file still works, with a deprecation warning',
  ],
  ['1.9: short names of hooks', HERE, 'the hook name %s still works, with a deprecation warning'],
  [
    '1.9: agents in today’s form',
    HERE,
    'an agent of version 1.9 as the migration guide makes it loads without a warning',
  ],
  ['1.9: what init makes', 'apps/cli/test/init.test.ts', 'init -t %s makes an agent that runs at once'],
  ['1.9: the examples', 'examples/agents.test.ts', 'the agent %s is in today’s form'],
  ['1.9.1: context.yaml is required', HERE, 'a missing context.yaml has no compatibility period'],
  [
    '1.9.1: the file to create is in the message',
    'packages/config-loader/test/prompt-and-context.test.ts',
    'what the message about a missing context.yaml offers can be pasted, whatever the prompt file is called',
  ],
  ['1.8: --task is -m', 'apps/cli/test/help.test.ts', '--task is refused with its new name'],
  [
    '1.5: sessions take commands',
    HERE,
    'tools for the sessions of version 1.4 load as the commands they are',
  ],
  [
    '1.5: write and read are gone',
    'packages/sessions/test/main.test.ts',
    "[['write', 'sess_x'], 'There is no command",
  ],
  [
    '1.3: runtime_io is io',
    'packages/journal/test/old-formats.test.ts',
    'runs of both old layouts are listed',
  ],
  ['1.1: llm_config.model_name', HERE, 'llm_config with model_name is read as llm with model'],
  ['1.1: system_prompt.txt', HERE, 'system_prompt.txt is found, with a deprecation warning'],
  ['1.1: its example', HERE, 'the example of version 1.1 loads as it was written'],
  ['parameters without inject_as', HERE, 'parameters without inject_as load'],
]

test.each(ROWS)('%s: has its test', async (_, file, title) => {
  const text = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')
  expect(text).toContain(title)
})
