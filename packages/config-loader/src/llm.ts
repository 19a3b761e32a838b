import { type LlmSettings, parseLlm } from '@delta/model'
import type { Findings } from './findings.js'
import { reportForeign } from './report.js'
import type { YamlFile } from './yaml-file.js'

const ENV_HINT = 'Put it into an .env file beside agent.yaml, which is not shared: DELTA_API_KEY=…'
const KEY_NAME = /^(api_?key|apikey|authorization|(access_|auth_|bearer_)?token|secret)$/i

/** Reads `llm:`, and refuses credentials in it: agent.yaml is shared, copied into runs and sent to versions. */
export function readLlm(value: unknown, file: YamlFile, findings: Findings): LlmSettings | undefined {
  const before = findings.problems.length
  refuseCredentials(value, file, findings)
  if (findings.problems.length > before) return undefined

  const parsed = parseLlm(value ?? {})
  if (parsed.ok) return parsed.llm
  reportForeign(parsed.problems, file, ['llm'], findings.error)
  return undefined
}

function refuseCredentials(value: unknown, file: YamlFile, findings: Findings): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, setting] of Object.entries(value)) {
    if (KEY_NAME.test(key)) {
      findings.error(file.locate(['llm', key], { key: true }), `llm.${key}: a key does not belong into this file.`, ENV_HINT)
    }
    if (key === 'base_url' && typeof setting === 'string' && hasCredentials(setting)) {
      findings.error(file.locate(['llm', key]), 'llm.base_url: a password does not belong into this file.', 'Put the whole URL into .env: DELTA_BASE_URL=…')
    }
  }
}

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { username, password, searchParams } = new URL(url)
  return username !== '' || password !== '' || [...searchParams.keys()].some((name) => KEY_NAME.test(name) || name === 'key')
}
