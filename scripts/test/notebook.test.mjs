import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, testEnvironment } from '../lib/environment.mjs'
import { matchesShown, openScratchShell } from '../lib/shell-block.mjs'
import { capture } from '../lib/step.mjs'

const RUN = /^<!-- run -->\n```sh\n([\s\S]*?)^```\n/gm
const PYTHON = /^```python\n([\s\S]*?)^```\n```text\n([\s\S]*?)^```\n/gm

const { code } = await capture(['python3', '-c', 'import pandas'], { env: testEnvironment() })

/** The trailing spaces of a header are nobody's business. */
const trimmed = (/** @type {string} */ text) => text.replace(/ +$/gm, '')

test.skipIf(code !== 0)('the Python of the notebook page prints what it shows (needs pandas)', async () => {
  const page = readFileSync(join(root, 'docs/how-to/notebook.md'), 'utf8')
  const shell = openScratchShell()
  try {
    const commands = [...page.matchAll(RUN)].map(([, script]) => script).join('')
    expect(await shell.run(commands)).toMatchObject({ code: 0 })
    const blocks = [...page.matchAll(PYTHON)]
    shell.write('notebook.py', blocks.map(([, script]) => script).join('\n'))
    const { code: exitCode, output } = await shell.run('python3 notebook.py')
    const shown = blocks.map(([, , text]) => text).join('')
    expect({ exitCode, isAsShown: matchesShown(shown, trimmed(output)), output }).toMatchObject({
      exitCode: 0,
      isAsShown: true,
    })
  } finally {
    shell.close()
  }
})
