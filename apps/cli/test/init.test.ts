import { join } from 'node:path'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, journalOf } from './delta.js'

/** Each template, and the file that its script leaves in the workspace. */
const TEMPLATES = {
  minimal: undefined,
  'hello-world': 'report.md',
  'file-ops': 'shopping.txt',
  'api-tester': 'report.md',
  'code-reviewer': 'review.md',
  research: 'answer.md',
}

test.each(Object.entries(TEMPLATES))(
  'init -t %s makes an agent that runs at once, without a key and without a network',
  async (template, file) => {
    await using directory = await temporaryWorkspace({ 'work/notes.txt': 'one two three\nTODO: four\n' })
    const agent = join(directory.path, 'made')
    const workspace = join(directory.path, 'work')
    const made = await delta(['init', 'made', '-t', template], { cwd: directory.path })
    expect({ exitCode: made.exitCode, stdout: made.stdout }).toEqual({ exitCode: 0, stdout: `${agent}\n` })
    expect(made.stderr).toContain(' run --agent made -w . -m "What is here?"')

    const run = await delta(['run', '--agent', agent, '-m', 'What is here?', '-w', workspace])
    expect(run.exitCode).toBe(0)
    expect(run.stderr).toContain(' of made in ')
    if (file !== undefined) expect(await directory.read(`work/${file}`)).not.toBe('')
    for (const event of await journalOf(workspace))
      if (event.type === 'ACTION_RESULT') expect(event).toMatchObject({ status: 'SUCCESS' })

    const further = await delta(['continue', '-m', 'Thank you.', '-w', workspace])
    expect({ exitCode: further.exitCode, stdout: further.stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining('a script'),
    })
  },
)

test.each(Object.keys(TEMPLATES))(
  'the files of a new agent (%s) name schemas for editors that lie in it',
  async (template) => {
    await using directory = await temporaryWorkspace({})
    await delta(['init', 'made', '-t', template], { cwd: directory.path })
    for (const name of ['agent', 'context']) {
      const [first] = (await directory.read(`made/${name}.yaml`)).split('\n')
      expect(first).toBe(`# yaml-language-server: $schema=.schemas/${name}.json`)
      expect(JSON.parse(await directory.read(`made/.schemas/${name}.json`)).title).toBe(
        `${name}.yaml of a Delta agent`,
      )
    }
  },
)

test.each(Object.keys(TEMPLATES).filter((name) => name !== 'hello-world'))(
  'a reviewer would ask nothing about the tools of %s',
  async (template) => {
    await using directory = await temporaryWorkspace({})
    await delta(['init', 'made', '-t', template], { cwd: directory.path })
    expect(await delta(['tool', 'lint', 'made'], { cwd: directory.path })).toMatchObject({
      exitCode: 0,
      stdout: '',
    })
    const strict = await delta(['config', '--agent', 'made', '--strict'], { cwd: directory.path })
    expect(strict).toMatchObject({ exitCode: 0, stderr: '' })
  },
)

const NO_HEADERS = 'header: false # true puts the line "# Context Block: <id>" above each text'

test('a new agent has the recipe that explains itself, without headers, and every request holds the guide of the workspace', async () => {
  await using directory = await temporaryWorkspace({
    'work/DELTA.md': '# Project Guide\n\nTests run with make.\n',
  })
  const where = { cwd: directory.path }
  for (const template of ['minimal', 'hello-world', 'file-ops', 'api-tester']) {
    await delta(['init', template, '-t', template], where)
    const recipe = await directory.read(`${template}/context.yaml`)
    expect(recipe).toContain('# It is the explicit "recipe" for what the Agent sees.\n')
    expect(recipe).toContain(`\n${NO_HEADERS}\n\nsources:\n  # 1. Core Instructions (The System Prompt)\n`)
    expect(recipe).toContain('# 3. Conversation History (The Journal)\n')
  }
  await delta(['run', '--agent', 'hello-world', '-w', 'work', '-m', 'What is here?', '-q'], where)
  const events = await journalOf(join(directory.path, 'work'))
  const thoughts = events.filter(({ type }) => type === 'THOUGHT').length
  expect(thoughts).toBeGreaterThan(1)
  for (let iteration = 1; iteration <= thoughts; iteration++) {
    const { stdout } = await delta(['show', '-w', 'work', '--request', String(iteration)], where)
    expect(JSON.parse(stdout).messages[1]).toEqual({
      role: 'system',
      content: '# Project Guide\n\nTests run with make.\n',
    })
  }
})

test('init advises the command of npx where it was started by npx', async () => {
  await using directory = await temporaryWorkspace({})
  for (const [name, env, advised] of [
    ['npx', { npm_lifecycle_event: 'npx' }, 'npx @delta/cli'],
    ['other', {}, 'delta'],
  ] as const) {
    const { stderr } = await delta(['init', name], { cwd: directory.path, env })
    expect(stderr).toContain(`\n  ${advised} run --agent ${name} -w . -m "What is here?"\n`)
  }
})

test('a reviewer who finds nothing says so in the review', async () => {
  await using directory = await temporaryWorkspace({ 'work/clean.txt': 'fine\n' })
  const where = { cwd: directory.path }
  await delta(['init', 'made', '-t', 'code-reviewer'], where)
  expect(await delta(['run', '--agent', 'made', '-w', 'work', '-m', 'Review it'], where)).toMatchObject({
    exitCode: 0,
  })
  expect(await directory.read('work/review.md')).toBe('# Review\n\nLeft undone:\n\nNo line matches.\n')
})

test('what init advises for a name with a blank or a quote in it can be pasted, too', async () => {
  await using directory = await temporaryWorkspace({})
  const name = "Ada's agent"
  const { stderr } = await delta(['init', name], { cwd: directory.path })
  const [, advice = ''] = /^ {2}(.* -m "What is here\?")$/m.exec(stderr) ?? []
  const result = await runProcess(['sh', '-c', advice.replace('delta', `'${process.execPath}' '${DELTA}'`)], {
    cwd: directory.path,
    env: cleanEnvironment(),
  })
  expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(name) })
})

test('init never writes into a directory that holds something', async () => {
  await using directory = await temporaryWorkspace({ 'made/mine.txt': 'keep\n' })
  const result = await delta(['init', 'made'], { cwd: directory.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('is not empty')
  expect(await directory.files()).toEqual(['made/mine.txt'])
})

test('an unknown template is refused with the names of those there are', async () => {
  await using directory = await temporaryWorkspace({})
  const result = await delta(['init', '-t', 'wizard'], { cwd: directory.path })
  expect(result.exitCode).toBe(2)
  expect(result.stderr).toContain('minimal, hello-world, file-ops, api-tester, code-reviewer, research')
  expect(await directory.files()).toEqual([])
})
