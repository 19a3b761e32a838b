import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'
import { matchesShown } from '../lib/shell-block.mjs'
import { capture } from '../lib/step.mjs'
import { renderDocument } from '../readme.mjs'
import { temporaryTree } from './temporary.mjs'

/**
 * @param {string} text the README
 * @param {Record<string, string>} [files] beside it
 */
function render(text, files = {}) {
  return renderDocument(join(temporaryTree({ ...files, 'README.md': text }), 'README.md'))
}

test('an example block holds the file and what it prints', async () => {
  const example = 'const names: string[] = ["$&", "b"]\nfor (const name of names) console.log(name)\n'
  const { rendered, problems } = await render(
    'Before.\n<!-- example: a/first.ts -->\n<!-- /example -->\nAfter.\n',
    {
      'a/first.ts': example,
    },
  )
  expect(problems).toEqual([])
  expect(rendered).toBe(
    `Before.\n<!-- example: a/first.ts -->\n\`\`\`ts\n${example}\`\`\`\n\`\`\`text\n$&\nb\n\`\`\`\n<!-- /example -->\nAfter.\n`,
  )
})

test('an example runs in its own directory as a module of the package around it', async () => {
  const { rendered, problems } = await render('<!-- example: examples/use.mjs -->\n<!-- /example -->\n', {
    'package.json': '{ "name": "@delta/sample", "type": "module", "exports": "./main.js" }',
    'main.js': 'export const answer = 42',
    'examples/use.mjs': `import { answer } from '@delta/sample'
import { readFileSync } from 'node:fs'
console.log(answer, readFileSync('data.txt', 'utf8'))`,
    'examples/data.txt': 'from a file',
  })
  expect(problems).toEqual([])
  expect(rendered).toContain('```text\n42 from a file\n```\n')
})

test('what an example leaves among the temporary files is removed', async () => {
  const { rendered } = await render('<!-- example: a.mjs -->\n<!-- /example -->\n', {
    'a.mjs': `import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
console.log('made', mkdtempSync(join(tmpdir(), 'left-')))`,
  })
  const [, left = ''] = /^made (.+)$/m.exec(rendered) ?? []
  expect([left !== '', existsSync(left)]).toEqual([true, false])
})

test('a file that is no program is shown and not run', async () => {
  const { rendered } = await render('<!-- example: agent.yaml -->\nold\n<!-- /example -->\n', {
    'agent.yaml': 'name: x\n',
  })
  expect(rendered).toBe('<!-- example: agent.yaml -->\n```yaml\nname: x\n```\n<!-- /example -->\n')
})

test('rendering what was rendered changes nothing', async () => {
  const files = { 'a.mjs': 'console.log("```")\n' }
  const first = await render('<!-- example: a.mjs -->\n<!-- /example -->\n', files)
  const second = await render(first.rendered, files)
  expect(second.rendered).toBe(first.rendered)
  expect(second.problems).toEqual([])
})

test('an example that fails is a problem that shows what it printed', async () => {
  const { problems } = await render('<!-- example: a.mjs -->\n<!-- /example -->\n', {
    'a.mjs': 'console.log("so far"); process.exitCode = 3',
  })
  expect(problems).toEqual(['a.mjs: it ends with exit code 3 and prints:\nso far'])
})

test('an example that is not there, and a marker without its partner, are problems', async () => {
  expect((await render('<!-- example: none.ts -->\n<!-- /example -->\n')).problems).toEqual([
    expect.stringMatching(/^none\.ts: ENOENT/),
  ])
  expect((await render('<!-- example: none.ts -->\n')).problems).toEqual([
    'an example, run or file marker has no partner, or does not hold the fences it should',
  ])
})

test('shell lines run in a copy of the repository, each block going on where the last one ended', async () => {
  const { problems } = await render(`<!-- run -->
\`\`\`sh
ls -d examples packages
touch examples/written
\`\`\`
\`\`\`text
examples
packages
\`\`\`
<!-- /run -->
<!-- run -->
\`\`\`sh
ls examples/written
\`\`\`
<!-- /run -->
`)
  expect(problems).toEqual([])
})

test('a file that a document shows is there when its shell lines run', async () => {
  const { problems } = await render(`<!-- file: my/agent.yaml -->
\`\`\`yaml
name: mine
\`\`\`
<!-- /file -->
<!-- run -->
\`\`\`sh
cat my/agent.yaml
\`\`\`
\`\`\`text
name: mine
\`\`\`
<!-- /run -->
`)
  expect(problems).toEqual([])
})

test('shell lines that fail, or print something else than what is shown, are problems', async () => {
  const { problems } = await render(`<!-- run -->
\`\`\`sh
echo begun
false
echo never
\`\`\`
<!-- /run -->
<!-- run -->
\`\`\`sh
echo one >&2
\`\`\`
\`\`\`text
two
\`\`\`
<!-- /run -->
`)
  expect(problems).toEqual([
    'these lines end with exit code 1:\necho begun\nfalse\necho never\nIt prints:\nbegun',
    'these lines do not print what is shown:\necho one >&2\nIt prints:\none',
  ])
})

test('in shown output … stands for any text in a line, and alone on a line for any lines', () => {
  expect(matchesShown('run … done\n…\nlast', 'run 123 done\na\nb\nlast\n')).toBe(true)
  expect(matchesShown('first\n…', 'first\n')).toBe(true)
  expect(matchesShown('a.c', 'abc')).toBe(false)
  expect(matchesShown('run … done', 'run 1\n done')).toBe(false)
  expect(matchesShown('first', 'first\nsecond')).toBe(false)
})

test('that a busy machine had no time to keep the files of an iteration is no part of what is shown', () => {
  const note = 'note: The files of iteration 0 were not kept: a command started after 0.2 s.\n'
  expect(matchesShown('first\nsecond', `first\n${note}second\n`)).toBe(true)
})

test('a link that leads to no file is a problem; anchors, addresses and code are left alone', async () => {
  const text = `[a](here.md) [b](here.md#part) [c](#part) [d](https://example.com/x) \`[e](gone.md)\` [f](gone.md#x)
\`\`\`md
[g](gone.md)
\`\`\`
`
  expect((await render(text, { 'here.md': '' })).problems).toEqual(['the link gone.md#x leads to no file'])
})

test.each(['README.md', 'examples/README.md', 'docs/tutorial.md'])(
  'the alias that %s gives works in a clone whose path has a space',
  async (path) => {
    const [alias] = /alias delta="[^`\n]*"/.exec(readFileSync(join(root, path), 'utf8')) ?? []
    const clone = join(temporaryTree({ 'my clone/README.md': '' }), 'my clone')
    symlinkSync(join(root, 'apps'), join(clone, 'apps'))
    const { code, output } = await capture(['sh', '-c', `${alias}\ncd /\ndelta --version`], { cwd: clone })
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  },
)
