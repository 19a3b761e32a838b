import { execa } from 'execa'
import { expect, test } from 'vitest'
import { areInstalled } from '../../../packages/testkit/dist/index.js'
import { resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/atip-git'

test.skipIf(!areInstalled('git'))(
  'commands of git are tools by their description, and a destructive one is refused',
  async () => {
    const workspace = await workspaceOf(EXAMPLE, { 'notes.txt': '' })
    const git = execa({
      cwd: workspace.path,
      env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    })
    await git`git init -q`
    await git`git -c user.name=me -c user.email=me@example.org commit -q --allow-empty -m Begin`

    const { stdout } = await runExample(EXAMPLE, workspace, 'Clean up.')
    expect(stdout).toMatch(/^The last commit is: [0-9a-f]+ Begin\. I was not allowed to clean up\.\n$/)
    const [status, clean] = await resultsOf(workspace)
    expect(status?.[2]).toContain('?? notes.txt\n')
    expect(clean?.slice(0, 2)).toEqual(['git_clean', 'BLOCKED'])
    expect(workspace.has('notes.txt')).toBe(true)
  },
)
