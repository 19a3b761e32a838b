import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isConfigError, loadAgent } from '../src/index.js'
import { agentOf } from './agents.js'

const FILES: Record<string, string> = {
  'agent.yaml': `name: tester
version: 1.0.0
llm: { model: gpt-4o, temperature: 0.2 }
system_prompt: system_prompt.md
imports:
  - tools.yaml
policy: { allow_network: false }
tools:
  - name: count
    description: "Counts: lines"
    shell: |
      set -e
      wc -l < \${file}
    parameters:
      - { name: file, pattern: '[a-z]+' }
`,
  'tools.yaml': 'tools:\n  - { name: list, exec: "ls ${directory}", timeout_ms: 5 }\n',
  'hooks.yaml': 'on_error:\n  command: [notify, "me"]\n  timeout_ms: 10\n',
  'context.yaml': `total_max_tokens: 100
sources:
  - { type: file, id: p, path: '\${AGENT_HOME}/system_prompt.md', max_tokens: 5 }
  - type: computed_file
    generator: { command: [x], pass_env: [] }
    output_path: \${CWD}/x
    cache: { strategy: file_hash, invalidate_on: ['**'] }
  - { type: journal, condition: { when: task_contains, pattern: a } }
`,
}

/** A file with one to three pieces replaced by other pieces of YAML. */
const mangled = fc.constantFrom(...Object.keys(FILES)).chain((name) => {
  const text = FILES[name] ?? ''
  const pieces = fc.constantFrom(
    '',
    ' ',
    '\n',
    ':',
    '- ',
    '[',
    '}',
    '"',
    '*a',
    '&a ',
    '!t ',
    'null',
    '~',
    '5',
    '\t',
    '<<: ',
    '{}',
    '${',
    '|',
    '\u0007',
    '__proto__',
    '[[]]',
  )
  const edit = fc.record({ at: fc.nat(text.length), length: fc.nat(12), piece: pieces })
  return fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => ({
    name,
    text: edits.reduce(
      (before, { at, length, piece }) => before.slice(0, at) + piece + before.slice(at + length),
      text,
    ),
  }))
})

test('whatever happens to a file, it loads or every problem has a place and words', async () => {
  const home = await agentOf(FILES)
  await loadAgent(home, { env: {} })
  await fc.assert(
    fc.asyncProperty(mangled, async ({ name, text }) => {
      await writeFile(join(home, name), text)
      const error: unknown = await loadAgent(home, { env: {} }).catch((error: unknown) => error)
      await writeFile(join(home, name), FILES[name] ?? '')
      if (!(error instanceof Error)) return
      expect(isConfigError(error) ? '' : error.stack).toBe('')
      if (!isConfigError(error)) return
      expect(error.problems.length).toBeGreaterThan(0)
      for (const problem of error.problems) {
        expect(problem.message).toMatch(/\S.*[.!?:]$|^Error: context\.yaml/s)
        expect(problem.file).toMatch(/\.(yaml|md)$/)
      }
      expect(error.message).not.toContain('\u0007')
    }),
    { numRuns: 200 },
  )
})
