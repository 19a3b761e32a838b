import { chmod } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { safeParseManifest } from '../src/index.js'
import { history, journalText, placeWith } from './place.js'

/** The pattern for long conversations: the script as it has been handed around. */
const FOLD_MEMORY = `#!/bin/bash
JOURNAL=$JOURNAL_PATH
CUTOFF=$(($(wc -l < $JOURNAL) - 20))  # Skip last 20 iterations

echo "## Memory Summary (Iterations 1-\${CUTOFF})"
echo ""
echo "### Actions Taken:"
grep ACTION_RESULT $JOURNAL | head -n $CUTOFF | \\
  jq -r '.tool_name' | sort | uniq -c

echo ""
echo "### Key Decisions:"
grep THOUGHT $JOURNAL | head -n $CUTOFF | \\
  jq -r '.content' | grep -i 'decided\\|chose\\|will' | head -10
`

const CODE_REVIEW = `sources:
  # Priority 1: Core instructions
  - type: file
    id: system_prompt
    path: "\${AGENT_HOME}/system_prompt.md"

  # Priority 2: Workspace context (auto-skip if missing)
  - type: file
    id: workspace_guide
    path: "\${CWD}/DELTA.md"
    on_missing: skip

  # Priority 3: Compressed knowledge (dynamic)
  - type: computed_file
    id: codebase_summary
    generator:
      command: ["tree-sitter-summarize", "--repo", "\${CWD}"]
    output_path: "\${CWD}/.delta/context_artifacts/codebase.md"

  # Priority 4: Recent conversation (fills remaining space)
  - type: journal
    id: recent_dialogue
    max_iterations: 20
`

const FOLDING = `sources:
  - type: file
    path: "\${AGENT_HOME}/system_prompt.md"

  # Compressed summary of old history
  - type: computed_file
    generator:
      command: ["\${AGENT_HOME}/tools/fold-memory.sh"]
    output_path: "\${CWD}/.delta/context_artifacts/summary.md"

  # Only recent conversation
  - type: journal
    max_iterations: 10
`

const BUDGET = `total_max_tokens: 8000  # Global budget

sources:
  - type: file
    path: "\${AGENT_HOME}/system_prompt.md"
    # No max_tokens = must include fully

  - type: computed_file
    max_tokens: 2000  # Hard limit
    generator:
      command: ["summarize.py", "--target-tokens", "2000"]
    output_path: "\${CWD}/.delta/context_artifacts/summary.md"

  - type: journal
    # Uses remaining budget
`

const CONDITION_AND_CACHE = `sources:
  - type: file
    path: "\${CWD}/api-docs.md"
    condition:
      when: task_contains
      pattern: "API|endpoint|REST"
  - type: computed_file
    generator:
      command: ["expensive-analysis.py"]
    output_path: "\${CWD}/.delta/context_artifacts/analysis.md"
    cache:
      strategy: file_hash
      invalidate_on: ["src/**/*.py"]  # Recompute if source files change
  - type: journal
`

test('recipes as they have been handed around load without a word', () => {
  for (const text of [CODE_REVIEW, FOLDING, BUDGET, CONDITION_AND_CACHE])
    expect(safeParseManifest(parse(text))).toMatchObject({ ok: true, warnings: [] })
})

test('a long run is instructions, folded memory and the last ten iterations, by a script that is executed as it is', async () => {
  const run = history()
  run.user('Go.')
  for (let index = 1; index <= 120; index++)
    run.iteration(`I decided to look at file ${index}.`, `seen ${index}`)
  const { build, write } = await placeWith({
    'agent/system_prompt.md': 'You look.',
    'work/.delta/r1/journal.jsonl': journalText(run.events),
  })
  await chmod(await write('agent/tools/fold-memory.sh', FOLD_MEMORY), 0o755)
  const { messages } = await build(parse(FOLDING))
  expect(messages.slice(0, 3)).toEqual([
    { role: 'system', content: '# Context Block: system_prompt.md\n\nYou look.' },
    {
      role: 'system',
      content: expect.stringMatching(
        /^# Context Block: \.delta\/context_artifacts\/summary\.md\n\n## Memory Summary[\s\S]*120 tool[\s\S]*file 1\./,
      ),
    },
    { role: 'user', content: 'Go.' },
  ])
  const iterations = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
  expect(iterations).toEqual(
    Array.from({ length: 10 }, (_, index) => `I decided to look at file ${111 + index}.`),
  )
})
