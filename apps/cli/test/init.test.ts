import { join } from 'node:path'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf } from './delta.js'

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
    expect(made.stderr).toContain('delta run --agent made -m "What is here?"')

    const run = await delta(['run', '--agent', agent, '-m', 'What is here?', '-w', workspace])
    expect(run.exitCode).toBe(0)
    expect(run.stderr).toContain(' of made in ')
    if (file !== undefined) expect(await directory.read(`work/${file}`)).not.toBe('')
    for (const event of await journalOf(workspace))
      if (event.type === 'ACTION_RESULT') expect(event).toMatchObject({ status: 'SUCCESS' })
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
