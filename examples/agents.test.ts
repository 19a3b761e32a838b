import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadAgent } from '../packages/config-loader/dist/index.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))

const AGENTS = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
  .filter(
    (path) => /(^|\/)agent\.yaml$/.test(path) && !/(^|\/)(node_modules|workspaces|\.delta)\//.test(path),
  )
  .map((path) => dirname(path))

test.each(AGENTS)('the agent %s is in today’s form: it loads strictly, without a warning', async (path) => {
  const { warnings } = await loadAgent(join(HERE, path), { environment: {}, strict: true })
  expect(warnings).toEqual([])
})
