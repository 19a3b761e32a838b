import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
// docs/decisions/0011-following-the-shell.md
const LIMIT_BYTES = 19_600
const WITH_DEPENDENCIES_BYTES = 26_500

let workspace: TemporaryWorkspace
beforeAll(async () => {
  workspace = await temporaryWorkspace()
})
afterAll(() => workspace.remove())

async function bundle(format: 'esm' | 'iife', external: (string | RegExp)[]): Promise<string> {
  await build({
    entry: { index: join(root, 'src/index.ts') },
    outDir: join(workspace.path, format),
    format,
    platform: 'browser',
    globalName: 'expander',
    minify: true,
    silent: true,
    config: false,
    external,
    ...(external.length > 0 ? {} : { noExternal: [/./] }),
    tsconfig: join(root, 'tsconfig.json'),
  })
  const file = format === 'esm' ? 'index.js' : 'index.global.js'
  return workspace.read(`${format}/${file}`)
}

test(`our own code is under ${LIMIT_BYTES} bytes, minified and compressed`, async () => {
  const code = await bundle('esm', [/^zod/])
  expect(code).toContain('from"zod/mini"')
  expect(gzipSync(code, { level: 9 }).byteLength).toBeLessThan(LIMIT_BYTES)
})

test(`with its dependencies it is under ${WITH_DEPENDENCIES_BYTES} bytes`, async () => {
  expect(gzipSync(await bundle('iife', []), { level: 9 }).byteLength).toBeLessThan(WITH_DEPENDENCIES_BYTES)
})

test('bundled with its dependencies it runs where there is nothing but the language', async () => {
  const code = await bundle('iife', [])
  const context = createContext({})
  runInContext(code, context)
  const result = runInContext(
    `JSON.stringify([
      expander.bindArguments(
        expander.expandTool({ name: 't', exec: 'grep "a b" \${file}' }),
        { file: 'x y' },
        { variables: { AGENT_HOME: '/a', CWD: '/c' } },
      ).argv,
      expander.safeParseTool({ name: 't', exec: 'a | b' }).problems[0].column,
      expander.safeParseTool({ name: 't', shell: 'a \${b}' }).ok,
    ])`,
    context,
  ) as string
  expect(JSON.parse(result)).toEqual([['grep', 'a b', 'x y'], 3, true])
})

test('no source file imports anything but zod/mini and its neighbours', async () => {
  const files = (await readdir(join(root, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'))
  const imports = new Set<string>()
  for (const file of files) {
    const text = await readFile(join(root, 'src', file), 'utf8')
    for (const [, specifier = ''] of text.matchAll(/from '([^'.][^']*)'/g)) imports.add(specifier)
  }
  expect([...imports].sort()).toEqual(['zod/mini'])
})
