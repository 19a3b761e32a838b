import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkSkill } from '../src/skills.js'
import { readUpwards } from '../src/walk.js'
import { history, placeWith } from './place.js'

const skill = (fields: string) => `---\n${fields}\n---\n# Body\n`
const named = (name: string, more = '') => skill(`name: ${name}\ndescription: A test skill${more}`)
const SOURCE = { type: 'skills', paths: ['${CWD}/.agents/skills', '${AGENT_HOME}/skills'], header: false }

test('the catalogue is one line a skill, sorted: its name, what it is for, and the file to read', async () => {
  const { build, directory } = await placeWith({
    'work/.agents/skills/tables/SKILL.md': skill(
      'name: tables\ndescription: >-\n  Reads tables.\n  Use it for CSV.',
    ),
    'work/.agents/skills/tables/scripts/read.py': '',
    'work/.agents/skills/notes.md': 'not a skill',
    'work/.agents/skills/empty/README.md': 'nor this',
    'agent/skills/review/skill.md': skill(
      'name: review\ndescription: "Reviews\\e[2J a\\u200b change: \\"all\\" of it"',
    ),
  })
  const { messages, blocks, warnings } = await build({ sources: [SOURCE] })
  const content = `- review: Reviews\\x1b[2J a\\u{200b} change: "all" of it (${directory}/agent/skills/review/skill.md)
- tables: Reads tables. Use it for CSV. (.agents/skills/tables/SKILL.md)
`
  expect(messages).toEqual([{ role: 'system', content }])
  expect(blocks[0]).toMatchObject({ source_id: 'skills', type: 'skills', note: '2 skills' })
  expect(warnings).toEqual([])
})

test('without a skill there is no message; one that is wrong is left out and named, with all that is wrong', async () => {
  const { build, directory } = await placeWith({
    'outside/SKILL.md': named('out'),
    'work/.agents/skills/PDF_Tools/SKILL.md': named('PDF_Tools', '\nversion: 1.0'),
  })
  const skills = join(directory, 'work/.agents/skills')
  await symlink(join(directory, 'outside'), join(skills, 'out'))
  await mkdir(join(directory, 'agent'), { recursive: true })
  await writeFile(join(directory, 'agent/skills'), 'a file')
  const { messages, blocks, warnings } = await build({ sources: [{ type: 'text', text: 'First.' }, SOURCE] })
  expect(messages).toHaveLength(1)
  expect(blocks[1]).toMatchObject({ messages: 0, note: 'left out: there are no skills' })
  expect(warnings).toEqual([
    `context.yaml, sources[1] (skills): ${skills}/PDF_Tools left out: "version" is not a key of a skill; below metadata any key may stand; name "PDF_Tools" is not lowercase letters, digits and single hyphens between them.`,
    `context.yaml, sources[1] (skills): ${skills}/out left out: SKILL.md is a link that leads out of the workspace, to ${directory}/outside/SKILL.md.`,
    expect.stringContaining(
      `context.yaml, sources[1] (skills): ${directory}/agent/skills cannot be read: ENOTDIR`,
    ),
  ])
})

test('what a tool may write into skills is bounded: the front matter, the whole catalogue, and what is said of what is wrong', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}: x`).join('\n')
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `work/.agents/skills/s${at + 10}/SKILL.md`,
      skill(`name: s${at + 10}\ndescription: ${'y'.repeat(1000)}`),
    ]),
  )
  const wrong = Object.fromEntries(
    Array.from({ length: 22 }, (_, at) => [`agent/skills/W${at + 10}/SKILL.md`, named(`W${at + 10}`)]),
  )
  const { build, directory } = await placeWith({
    ...files,
    ...wrong,
    'work/.agents/skills/huge/SKILL.md': skill(keys(300_000)),
    'work/.agents/skills/large/SKILL.md': named('large', `\n${'z'.repeat(1_000)}: x\n${keys(5_000)}`),
    'work/.agents/skills/name/SKILL.md': named('N'.repeat(5_000)),
  })
  const broken = skill(`name: x\ndescription: [\n${'!x y,'.repeat(100)}\n} z`)
  expect(checkSkill(broken, 'x')).toEqual([
    expect.stringMatching(/^what stands between the lines --- is not YAML in line 4: [^\n]+$/),
  ])
  const { messages, warnings } = await build({ sources: [SOURCE] })
  const content = String(messages[0]?.content)
  expect(content.trimEnd().split('\n')).toHaveLength(30)
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(32_000)
  const skills = `context.yaml, sources[0] (skills): ${directory}/work/.agents/skills`
  expect(warnings[0]).toBe(`${skills}/huge left out: what stands between the lines --- is longer than 64 kB.`)
  expect(warnings[1]).toMatch(
    /"z{199}…; "k0" is .*; "k3" is not a key of a skill; below metadata any key may stand; and 4996 more\.$/,
  )
  expect(warnings[2]).toContain(`${skills}/name left out: name "${'N'.repeat(194)}…; `)
  expect(warnings.slice(-2)).toEqual([
    'context.yaml, sources[0] (skills): and 5 more left out.',
    'context.yaml, sources[0] (skills): 10 of 40 skills left out: the catalogue is cut after 32 kB.',
  ])
  expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThan(1500)
})

/** What the tests of the specification's validator (skills-ref) put in, and whether it finds it valid. */
const VERDICTS: [what: string, directory: string, text: string, isValid: boolean][] = [
  ['a name and a description', 'my-skill', named('my-skill'), true],
  [
    'every key',
    'my-skill',
    named('my-skill', '\nlicense: MIT\nmetadata:\n  author: Test\n  version: 1.0'),
    true,
  ],
  ['tools', 'my-skill', named('my-skill', '\nallowed-tools: Bash(jq:*) Bash(git:*)'), true],
  ['a list of tools', 'my-skill', named('my-skill', '\nallowed-tools:\n  - Read\n  - Bash'), true],
  ['compatibility', 'my-skill', named('my-skill', '\ncompatibility: Requires Python 3.11+'), true],
  [
    '500 characters of it and more',
    'my-skill',
    named('my-skill', `\ncompatibility: ${'x'.repeat(550)}`),
    false,
  ],
  ['Chinese', '技能', named('技能'), true],
  ['Russian with a hyphen', 'мой-навык', named('мой-навык'), true],
  ['Russian', 'навык', named('навык'), true],
  ['Russian capitals', 'НАВЫК', named('НАВЫК'), false],
  ['a letter and its accent apart', 'caf\u00e9', named('cafe\u0301'), true],
  ['capitals', 'MySkill', named('MySkill'), false],
  ['70 letters', 'a'.repeat(70), named('a'.repeat(70)), false],
  ['a hyphen first', '-my-skill', named('-my-skill'), false],
  ['two hyphens', 'my--skill', named('my--skill'), false],
  ['an underscore', 'my_skill', named('my_skill'), false],
  ['the name of another directory', 'wrong-name', named('correct-name'), false],
  ['an unknown key', 'my-skill', named('my-skill', '\nunknown_field: x'), false],
  ['1,100 characters', 'my-skill', skill(`name: my-skill\ndescription: ${'x'.repeat(1100)}`), false],
  ['no name', 'my-skill', skill('description: A test skill'), false],
  ['no description', 'my-skill', skill('name: my-skill'), false],
  ['nothing above the text', 'my-skill', '# No front matter', false],
  ['no end', 'my-skill', '---\nname: my-skill\ndescription: A test skill\n', false],
  ['no YAML', 'my-skill', skill('name: [invalid\ndescription: broken'), false],
  ['a list', 'my-skill', skill('- just\n- a\n- list'), false],
  ['a text', 'my-skill', skill('only words'), false],
]

test.each(VERDICTS)('as the validator of the specification says: %s', (_, directory, text, isValid) => {
  const skillOrProblems = checkSkill(text, directory)
  expect(Array.isArray(skillOrProblems)).toBe(!isValid)
  if (isValid) expect(skillOrProblems).toMatchObject({ description: 'A test skill' })
})

/** The shapes of what skills in public collections say of themselves, in words of our own. */
const WRITTEN: Record<string, string> = {
  plain: 'description: Reads tables (CSV, TSV) and answers questions about them. Use when there are rows.',
  quoted:
    'description: "Use this whenever a \\"spreadsheet\\" is named: .xlsx, .csv - also if only in passing."',
  single: "description: 'It''s for letters. Triggers: ''write to'', ''reply to''.'",
  folded: 'description: >-\n  Many words\n  over some lines.\n\n  And a second paragraph.',
  literal: 'description: |\n  One line.\n  TRIGGER when: it is asked for.',
  wrapped:
    'description: "Builds things.\n  TRIGGER when: code imports `a`/`b`;\n  DO NOT TRIGGER when: other code."',
  continued: 'description: Toolkit for interfaces, with\n  verifying, debugging, and\n  logs.',
  dashes: 'description: Interactive art — with a seed; use it — always.',
  commented: 'description: Replace this. # what it is for, and when',
  longest: `description: ${'y'.repeat(1024)}`,
  licensed: 'description: X.\nlicense: Proprietary. LICENSE.txt has complete terms',
  listed: 'description: X.\nallowed-tools: [Read, Write]\nmetadata: { author: somebody, tags: "a, b" }',
  nested: 'metadata:\n  author: somebody\n  version: "1.0"\ndescription: X.',
  numbers: 'description: 2026\ncompatibility: 3.11',
  windows: 'description: X.\r\nlicense: MIT\r',
  blank: 'description: X.\n\n\nlicense: Apache-2.0\n',
  emoji: 'description: 绘图 🎨 工具。',
  tight: 'license: MIT\ndescription: X.',
}

test('18 of 18 skills, written as people write them, are catalogued', async () => {
  const files = Object.entries(WRITTEN).map(([name, fields]) => [
    `work/.agents/skills/${name}/SKILL.md`,
    skill(`name: ${name}\n${fields}`),
  ])
  const { build } = await placeWith(Object.fromEntries(files))
  const { messages, warnings } = await build({ sources: [SOURCE] })
  expect(warnings).toEqual([])
  expect(String(messages[0]?.content).trimEnd().split('\n')).toHaveLength(18)
})

describe('walk: up', () => {
  const GUIDE = { type: 'file', path: 'AGENTS.md', walk: 'up', header: false }
  const inRepository = (manifest: object, files: Record<string, string>, more = {}) =>
    placeWith({ 'AGENTS.md': 'Above.\n', ...files }).then(async (place) => {
      const CWD = join(place.directory, 'repo/packages/one')
      await mkdir(CWD, { recursive: true })
      const variables = { ...place.options.variables, CWD }
      return { ...place, result: () => place.build({ sources: [manifest] }, { variables, ...more }) }
    })

  test('sends the files of a repository from its top down to the workspace, and none from above it', async () => {
    const { result, directory } = await inRepository(GUIDE, {
      'repo/.git': 'gitdir: elsewhere\n',
      'repo/AGENTS.md': 'Run make.\n\n\n',
      'repo/packages/one/AGENTS.md': 'Use tabs.',
    })
    const content = '## AGENTS.md\n\nRun make.\n\n## packages/one/AGENTS.md\n\nUse tabs.\n'
    const { messages, blocks } = await result()
    expect(messages).toEqual([{ role: 'system', content }])
    expect(blocks[0]).toMatchObject({ source_id: 'AGENTS.md', note: '2 files' })

    await symlink('../AGENTS.md', join(directory, 'repo/packages/AGENTS.md')) // within the repository
    expect((await result()).messages[0]?.content).toContain('## packages/AGENTS.md\n\nRun make.\n')
  })

  test('follows no link out of the repository', async () => {
    const files = { 'repo/.git/HEAD': '' }
    const { result, directory } = await inRepository({ ...GUIDE, on_missing: 'skip' }, files)
    expect((await result()).blocks[0]?.note).toBe('left out: missing')
    const path = join(directory, 'repo/packages/one/AGENTS.md')
    await symlink(join(directory, 'AGENTS.md'), path)
    const { messages, warnings } = await result()
    expect(messages).toEqual([])
    expect(warnings).toEqual([
      `context.yaml, sources[0] (AGENTS.md): ${path} left out: it is a link that leads out of the workspace, to ${directory}/AGENTS.md.`,
    ])
    const strict = await inRepository(GUIDE, files)
    await expect(strict.result()).rejects.toThrow(
      'context.yaml: the source "AGENTS.md": AGENTS.md exists neither in the workspace nor above it.',
    )
  })

  test('reads the workspace alone where there is no repository', async () => {
    const outer = await mkdtemp(join(tmpdir(), '../delta-walk-')) // the directory of all tests is a repository
    onTestFinished(() => rm(outer, { recursive: true }))
    const inner = join(outer, 'inner')
    await mkdir(inner)
    await writeFile(join(outer, 'AGENTS.md'), 'Outer.')
    await writeFile(join(inner, 'AGENTS.md'), 'Inner.')
    expect(readUpwards('AGENTS.md', inner, undefined).text).toBe('## AGENTS.md\n\nInner.\n')
  })

  test('says which file was written during the run, and cuts after 32 kB', async () => {
    const run = history()
    run.user('Go.')
    const early = { ...run.events[0], timestamp: '2000-01-01T00:00:00.000Z' }
    const late = { ...run.events[0], timestamp: '2999-01-01T00:00:00.000Z' }
    const inherited = { ...early, inherited: true }
    const files = { 'repo/.git/HEAD': '', 'repo/AGENTS.md': '🌲'.repeat(9000) }
    for (const [journalPath, note] of [
      [[early], 'AGENTS.md written during this run'],
      [[late], undefined],
      [[inherited, late], undefined],
    ] as const) {
      const { result } = await inRepository(GUIDE, files, { journalPath })
      const { messages, blocks, warnings } = await result()
      expect(blocks[0]?.note).toBe(note)
      const content = String(messages[0]?.content)
      expect(content).toMatch(/^## AGENTS\.md\n\n🌲+\n\[cut here: the rest exceeds 32 kB\]$/u)
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(32_000 + 40)
      expect(warnings).toEqual([
        'context.yaml, sources[0] (AGENTS.md): cut after 32 kB. Shorten the files, or name fewer.',
      ])
    }
  })
})
