import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { readRequest } from '../../../packages/journal/dist/runs.js'
import { areInstalled } from '../../../packages/testkit/dist/index.js'
import { runDirectoryOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '3-advanced/code-reviewer'

const gitIn = (cwd: string) =>
  execa({ cwd, env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })

test.skipIf(!areInstalled('git'))(
  'a change is in the first request, and the review reports a bug that was tried',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const git = gitIn(workspace.path)
    await git`git init -q`
    await git`git add .`
    await git`git -c user.name=me -c user.email=me@example.org commit -qm Begin`
    const price = await workspace.read('price.js')
    await workspace.write('price.js', price.replace('1 - discount', '1 - discount / 100'))

    const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'Review the change.')
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'One finding, in REVIEW.md: cart.js was forgotten.\n',
    })
    expect(await workspace.read('REVIEW.md')).toContain('A cart of 100 costs 99.8 instead of 80.')

    const { messages } = JSON.parse(await readRequest(await runDirectoryOf(workspace), 1))
    const systemMessages = messages.filter(({ role }: { role: string }) => role === 'system')
    expect(systemMessages.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('You review the change'),
      expect.stringContaining('We care about wrong prices'),
      expect.stringContaining('+  return amount * (1 - discount / 100)\n'),
    ])
    expect(workspace.has(join('.delta', 'context_artifacts', 'change.diff'))).toBe(true)
  },
)

test.skipIf(!areInstalled('git'))(
  'without git, without a commit and without a change, it says that there is nothing to review, and sends no request',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const git = gitIn(workspace.path)
    const reviewed = async () => {
      const { exitCode, stderr } = await runExample(EXAMPLE, workspace, 'Review the change.')
      expect(exitCode).toBe(1)
      expect(stderr).toContain('nothing to review: git diff HEAD shows no change here')
      const record = await readRequest(await runDirectoryOf(workspace), 1).catch(() => 'none')
      expect(record).toBe('none')
    }
    await reviewed()
    await git`git init -q`
    await reviewed()
    await git`git add package.json price.js cart.js`
    await git`git -c user.name=me -c user.email=me@example.org commit -qm Begin`
    await reviewed()
  },
)
