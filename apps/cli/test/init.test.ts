import { join } from 'node:path'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
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

const NO_HEADERS = 'header: false # true puts the line "# Context Block: <id>" above each text'
const GUIDE = '# Project Guide\n\nTests run with make.\n'

test.each(Object.entries(TEMPLATES))(
  'init -t %s makes an agent that runs at once, without a key and without a network, and that a reviewer would not ask about',
  async (template, file) => {
    const files = { 'work/notes.txt': 'one two three\nTODO: four\n', 'work/DELTA.md': GUIDE }
    const directory = await temporaryWorkspace(files, { onCleanup: onTestFinished })
    const at = (...words: string[]) => delta(words, { cwd: directory.path })
    const made = await at('init', 'made', '-t', template)
    expect(made).toMatchObject({ exitCode: 0, stdout: `${join(directory.path, 'made')}\n` })
    expect(made.stderr).toContain('\n  delta run --agent made -w . -m "What is here?"\n')
    for (const name of ['agent', 'context']) {
      const [first] = (await directory.read(`made/${name}.yaml`)).split('\n')
      expect(first).toBe(`# yaml-language-server: $schema=.schemas/${name}.json`)
      const { title } = JSON.parse(await directory.read(`made/.schemas/${name}.json`))
      expect(title).toBe(`${name}.yaml of a Delta agent`)
    }
    if (!['code-reviewer', 'research'].includes(template))
      expect(await directory.read('made/context.yaml')).toContain(
        `\n${NO_HEADERS}\n\nsources:\n  # 1. Core Instructions (The System Prompt)\n`,
      )
    if (template !== 'hello-world') {
      expect(await at('tool', 'lint', 'made')).toMatchObject({ exitCode: 0, stdout: '' })
      expect(await at('config', '--agent', 'made', '--strict')).toMatchObject({ exitCode: 0, stderr: '' })
    }

    const run = await at('run', '--agent', 'made', '-m', 'What is here?', '-w', 'work')
    expect(run.exitCode).toBe(0)
    expect(run.stderr).toContain(' of made in ')
    if (file !== undefined) expect(await directory.read(`work/${file}`)).not.toBe('')
    for (const event of await journalOf(join(directory.path, 'work')))
      if (event.type === 'ACTION_RESULT') expect(event).toMatchObject({ status: 'SUCCESS' })
    const [record] = (await directory.files()).filter((each) => /io\/invocations\/.*_1\.json$/.test(each))
    const { request } = JSON.parse(await directory.read(record ?? 'none'))
    expect(request.messages).toContainEqual({ role: 'system', content: GUIDE })
    if (template !== 'minimal') return
    const further = await at('continue', '-m', 'Thank you.', '-w', 'work')
    expect(further).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('a script') })
  },
)

test('what init advises can be pasted for a name with a blank or a quote in it, and names npx where npx started it', async () => {
  const directory = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const name = "Ada's agent"
  const { stderr } = await delta(['init', name], { cwd: directory.path })
  const [, advice = ''] = /^ {2}(.* -m "What is here\?")$/m.exec(stderr) ?? []
  const typed = advice.replace('delta', `'${process.execPath}' '${DELTA}'`)
  const result = await runProcess(['sh', '-c', typed], { cwd: directory.path, env: cleanEnvironment() })
  expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(name) })
  const npx = await delta(['init', 'npx'], { cwd: directory.path, env: { npm_lifecycle_event: 'npx' } })
  expect(npx.stderr).toContain('\n  npx @delta/cli run --agent npx -w . -m "What is here?"\n')
})

test('init never writes into a directory that holds something', async () => {
  const directory = await temporaryWorkspace({ 'made/mine.txt': 'keep\n' }, { onCleanup: onTestFinished })
  const result = await delta(['init', 'made'], { cwd: directory.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('is not empty')
  expect(await directory.files()).toEqual(['made/mine.txt'])
})
