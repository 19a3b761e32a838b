import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadAgent } from '../packages/config-loader/dist/index.js'
import { deltaHere } from './run-example.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))

const TEMPLATES = fileURLToPath(new URL('../apps/cli/templates/', import.meta.url))

const AGENTS = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
  .filter(
    (path) => /(^|\/)agent\.yaml$/.test(path) && !/(^|\/)(node_modules|workspaces|\.delta)\//.test(path),
  )
  .map((path) => dirname(path))

test.each(AGENTS)('the agent %s is in today’s form: it loads strictly, without a warning', async (path) => {
  const { warnings } = await loadAgent(join(HERE, path), { env: {}, strict: true })
  expect(warnings).toEqual([])
})

/** What a reviewer would ask, and why it is so. */
const ANSWERED: Record<string, string[]> = {
  // a number may be negative, and round.sh takes options only behind it
  '1-basics/calculator': ['round: option-like-values'],
  // the program describes itself so
  '2-core-features/self-describing': ['notes_add: option-like-values'],
}

const LINTED = [
  ...AGENTS.map((path) => [path, join(HERE, path)] as const),
  ...readdirSync(TEMPLATES).map((name) => [`template ${name}`, join(TEMPLATES, name)] as const),
]

test.each(LINTED)(
  'delta tool lint finds nothing in %s that is not meant to be so',
  async (name, directory) => {
    const { stdout } = await deltaHere(['tool', 'lint', directory, '--json'])
    const found = (JSON.parse(stdout) as { tool?: string; rule: string }[]).map(
      ({ tool, rule }) => `${tool}: ${rule}`,
    )
    expect(found).toEqual(ANSWERED[name] ?? [])
  },
)
