import { expect, test } from 'vitest'
import { areInstalled } from '../../../packages/testkit/dist/index.js'
import { resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/python-repl'

test.skipIf(!areInstalled('python3'))(
  'variables and functions outlive a call, and a traceback costs nothing',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'Is it warmer when it is dry?')
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'Mean highs: 18.0 on 3 dry days, 13.5 on 2 wet ones.\n',
    })
    const [read, wrong] = await resultsOf(workspace)
    expect(read).toEqual(['python', 'SUCCESS', "5 days ['date', 'high', 'rain']\n"])
    expect(wrong?.[1]).toBe('FAILED')
    expect(wrong?.[2]).toContain("TypeError: '>' not supported between instances of 'str' and 'int'")
    expect((await workspace.files()).filter((file) => /^\.sessions\/sess_/.test(file))).toEqual([])
  },
)
