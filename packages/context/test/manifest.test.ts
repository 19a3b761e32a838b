import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseManifest, safeParseManifest } from '../src/index.js'

function problems(input: unknown): string[] {
  const parsed = safeParseManifest(input)
  return parsed.ok
    ? []
    : parsed.problems.map(({ path, message, hint }) =>
        [`${path}: ${message}`, ...(hint ? [hint] : [])].join(' | '),
      )
}

function warnings(input: unknown): string[] {
  return safeParseManifest(input).warnings.map(({ path, message, hint }) =>
    [`${path}: ${message}`, ...(hint ? [hint] : [])].join(' | '),
  )
}

const JOURNAL = { type: 'journal' }

test('what is not written has its default', () => {
  const parsed = safeParseManifest({
    sources: [
      { type: 'file', path: '${CWD}/a' },
      { type: 'computed_file', output_path: '${CWD}/b', generator: { command: ['b'] } },
      JOURNAL,
    ],
  })
  expect(parsed).toEqual({
    ok: true,
    warnings: [],
    manifest: {
      sources: [
        { type: 'file', path: '${CWD}/a', onMissing: 'error' },
        {
          type: 'computed_file',
          outputPath: '${CWD}/b',
          onMissing: 'error',
          generator: { command: ['b'], timeoutMs: 30_000, passEnv: [] },
        },
        { type: 'journal' },
      ],
    },
  })
})

test('all problems are reported at once, each with its path', () => {
  expect(
    problems({
      sources: [
        { type: 'flie', path: 'x' },
        { type: 'file' },
        { type: 'file', id: 'guide', path: '${CWD}/x', on_missing: 'ignore' },
        { type: 'computed_file', output_path: '${CWD}/x', generator: { command: 'summarize.py' } },
        { type: 'computed_file', output_path: '${CWD}/x', generator: 'summarize.py' },
        { type: 'journal', max_iterations: 0 },
        'journal',
      ],
      total_max_tokens: 'many',
    }),
  ).toEqual([
    'sources[0].type: must be one of file, text, computed_file, skills, journal, got "flie" | Did you mean "file"?',
    'sources[1]: "path" is missing | Add "path:" with a string.',
    'sources[2].on_missing: must be one of skip, error, got "ignore"',
    'sources[3].generator.command: must be a list, got "summarize.py" | Write: command: ["summarize.py"]',
    'sources[4].generator: must be a mapping with "command", got "summarize.py" | Write: { command: ["summarize.py"] }',
    'sources[5].max_iterations: must be at least 1, got 0',
    'sources[6]: must be a mapping, got "journal"',
    'total_max_tokens: must be a number, got "many"',
  ])
})

test('parseManifest throws what safeParseManifest returns', () => {
  expect(parseManifest({ sources: [JOURNAL] })).toEqual({ sources: [{ type: 'journal' }] })
  expect(() => parseManifest({ sources: [{ type: 'file' }], merge: 1 })).toThrow(
    expect.objectContaining({
      code: 'ERR_CONTEXT_MANIFEST',
      message:
        'context.yaml cannot be used:\n  sources[0]: "path" is missing\n  merge: must be true or false, got 1',
    }),
  )
})

test('what a recipe says of headers, roles, merging and texts is checked as the rest', () => {
  const file = { type: 'file', path: '${CWD}/x' }
  expect(
    problems({
      header: 5,
      merge: 'yes',
      sources: [
        { type: 'text' },
        { type: 'text', text: '', header: '' },
        { ...file, role: 'admin' },
        { ...file, header: [] },
        { ...JOURNAL, id: 'talk', dropped: 3 },
      ],
    }),
  ).toEqual([
    'sources[0]: "text" is missing | Add "text:" with a string.',
    'sources[1].text: must not be empty',
    'sources[1].header: must not be empty',
    'sources[2].role: must be one of system, developer, user, got "admin"',
    'sources[3].header: must be true, false or a string with ${id}, got an empty list',
    'sources[4].dropped: must be true, false or a string with ${count}, got 3',
    'header: must be true, false or a string with ${id}, got 5',
    'merge: must be true or false, got "yes"',
  ])
})

test('drop_to is below max_iterations, and walk looks for a text by its name', () => {
  expect(
    problems({
      sources: [
        { type: 'journal', max_iterations: 40, drop_to: 50 },
        { type: 'file', path: '${CWD}/AGENTS.md', walk: 'up' },
        { type: 'file', path: '../AGENTS.md', walk: 'up', as: 'file' },
        { type: 'skills', paths: ['${HOME}/skills'] },
      ],
    }),
  ).toEqual([
    'sources[0].drop_to: drop_to (50) must be below max_iterations (40) | Half of it is a good start.',
    'sources[1].path: must be a name to look for in each directory, got "${CWD}/AGENTS.md" | Write path: AGENTS.md, or remove walk.',
    'sources[2].path: must be a name to look for in each directory, got "../AGENTS.md" | Write path: AGENTS.md, or remove walk.',
    'sources[2].as: walk sends texts only | Remove as, or walk.',
    'sources[3].paths[0]: there is no variable ${HOME} | The variables are ${AGENT_HOME}, ${CWD}, ${RUN_DIR}.',
  ])
  expect(problems({ sources: [{ type: 'journal', drop_to: 5 }] })).toEqual([
    'sources[0].drop_to: drop_to needs max_iterations, from which it drops | Add max_iterations.',
  ])
  expect(problems({ sources: [JOURNAL, { type: 'file', path: 'docs/AGENTS.md', walk: 'up' }] })).toEqual([])
})

test('what looks like a variable and is not replaced is pointed out, but for a text that means it literally', () => {
  const sources = [
    { type: 'text', text: 'In ${AGENT_HOM}, not in ${CWD} or \\${x}', header: '## ${name}' },
    { ...JOURNAL, dropped: '${cuont} gone' },
  ]
  expect(warnings({ header: '${id}: ${title}', sources })).toEqual([
    'sources[0].text: ${AGENT_HOM} is not replaced, and reaches the model as it is | What is replaced here: ${AGENT_HOME}, ${CWD}, ${RUN_DIR}.',
    'sources[0].header: ${name} is not replaced, and reaches the model as it is | What is replaced here: ${id}.',
    'sources[1].dropped: ${cuont} is not replaced, and reaches the model as it is | What is replaced here: ${count}.',
    'header: ${title} is not replaced, and reaches the model as it is | What is replaced here: ${id}.',
  ])
})

test('a value that is not a recipe', () => {
  expect(problems(null)).toEqual([': must be a mapping with "sources", got nothing'])
  expect(problems([])).toEqual([': must be a mapping with "sources", got an empty list'])
  expect(problems({})).toEqual([': "sources" is missing | Add "sources:" with a list.'])
  expect(problems({ sources: [] })).toEqual(['sources: must not be empty'])
})

test('unknown keys are warnings with the name that was probably meant; x- keys are the author’s own', () => {
  const sources = [
    { type: 'file', id: 'guide', path: '${CWD}/x', on_mising: 'skip', 'x-note': 1 },
    { ...JOURNAL, path: 'x' },
  ]
  expect(warnings({ sources, total_max_token: 5, 'x-owner': 'me' })).toEqual([
    'sources[0].on_mising: unknown key "on_mising" | Did you mean "on_missing"?',
    'sources[1].path: unknown key "path" | Known here: type, max_iterations, drop_to, dropped, id, max_tokens, condition, prompt_cache.',
    'total_max_token: unknown key "total_max_token" | Did you mean "total_max_tokens"?',
  ])
  expect(safeParseManifest({ sources, total_max_token: 5 }).ok).toBe(true)
})

test('a variable that does not exist is an error, a relative path a warning that says where it starts', () => {
  expect(problems({ sources: [{ type: 'file', path: '${HOME}/x' }] })).toEqual([
    'sources[0].path: there is no variable ${HOME} | The variables are ${AGENT_HOME}, ${CWD}, ${RUN_DIR}.',
  ])
  expect(problems({ sources: [{ type: 'file', path: '$CWD/x' }] })).toEqual([
    'sources[0].path: there is no variable $CWD | The variables are ${AGENT_HOME}, ${CWD}, ${RUN_DIR}.',
  ])
  expect(warnings({ sources: [{ type: 'file', path: './x.md' }, JOURNAL] })).toEqual([
    'sources[0].path: the relative path "./x.md" starts at ${AGENT_HOME} | Write it out: ${AGENT_HOME}/x.md',
  ])
})

test('an invalid pattern is found when the file is read', () => {
  const condition = { when: 'task_contains', pattern: '(' }
  expect(problems({ sources: [{ ...JOURNAL, condition }] })).toEqual([
    expect.stringContaining('sources[0].condition.pattern: Invalid regular expression'),
  ])
  expect(problems({ sources: [{ ...JOURNAL, condition: { when: 'often' } }] })).toEqual([
    'sources[0].condition.when: must be one of task_contains, file_exists, env_set, iteration_at_least, got "often"',
  ])
  const cache = { strategy: 'file_hash', invalidate_on: ['src/**/*.ts', 'src/[z-a].ts'] }
  const computed = { type: 'computed_file', generator: { command: ['x'] }, output_path: '${CWD}/x.md', cache }
  expect(problems({ sources: [computed, JOURNAL] })).toEqual([
    'sources[0].cache.invalidate_on[1]: "src/[z-a].ts" is not a pattern: check what is in its brackets',
  ])
})

test('a recipe without the conversation, and two sources of one name, are pointed out', () => {
  const file = { type: 'file', id: 'a', path: '${CWD}/x' }
  expect(warnings({ sources: [file, file] })).toEqual([
    'sources[1].id: another source is called "a" as well',
    'sources: there is no journal source; the model sees neither the task nor what it did | Add to the list of sources: - type: journal',
  ])
})

test('no source has a name that stands for something else in the account of a request', () => {
  const named = (id: string) => ({ type: 'text', id, text: 'x' })
  const others = [named('constructor'), named('__proto__')]
  const reserved = [named('tools'), named('answers'), { type: 'file', path: '${AGENT_HOME}/all' }]
  expect(problems({ sources: [...reserved, ...others, JOURNAL] })).toEqual([
    'sources[0].id: "tools" is reserved for the tool definitions | Choose another id.',
    'sources[1].id: "answers" is reserved for the model\'s answers | Choose another id.',
    'sources[2].id: "all" is reserved for the sum of all sources | Choose another id.',
  ])
})

test('no value makes the parser throw, and whatever is refused has its reasons', () => {
  const key = fc.constantFrom(
    ...'sources type path generator command condition when cache __proto__ x-a'.split(' '),
  )
  const leaf = fc.oneof(
    fc.constantFrom('file', 'journal', 'computed_file', 'env_set', '${CWD}/x'),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(value, (input) => {
      const parsed = safeParseManifest(input)
      if (!parsed.ok) expect(parsed.problems.length).toBeGreaterThan(0)
    }),
    { numRuns: 1000 },
  )
})

test('no shell replaces "~" in a path', () => {
  expect(warnings({ sources: [{ type: 'file', path: '~/notes.md' }, JOURNAL] })).toEqual([
    'sources[0].path: "~" is not replaced here: no shell reads this path | Write it out, from / or from ${AGENT_HOME} on.',
  ])
})
