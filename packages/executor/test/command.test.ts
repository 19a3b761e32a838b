import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import * as command from '../src/command.js'
import * as everything from '../src/index.js'

test('the runner’s own entry has nothing the whole package has not', () => {
  expect(Object.entries(everything)).toEqual(expect.arrayContaining(Object.entries(command)))
  expect(Object.keys(command)).toContain('runCommand')
})

test('the runner’s own entry loads neither zod nor the expander, so that a short command stays short', () => {
  const files = new Set(['command.ts'])
  const imported = new Set<string>()
  for (const file of files) {
    const text = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')
    for (const [, name = ''] of text.matchAll(/^(?:import|export|\}) (?!type ).*from '(.+)'$/gm)) {
      if (name.startsWith('.')) files.add(join(dirname(file), name).replace('.js', '.ts'))
      else imported.add(name)
    }
  }
  expect(files).toContain('run-command.ts')
  expect([...imported].filter((name) => !name.startsWith('node:')).sort()).toEqual([
    '@delta/durable',
    'shell-quote',
  ])
})
