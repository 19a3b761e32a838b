import { nearestNames } from '@delta/executor'
import { LLM_KEYS, type LlmSettings, parseLlm } from '@delta/model'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import { reportForeign, sentence } from '../shape/report.js'
import { show } from '../shape/shape-problem.js'
import type { YamlFile } from '../yaml/file.js'
import { API_PARAMETERS } from './api-parameters.js'
import { reportMissingLlm, saysNothing } from './missing-llm.js'

/** What other tools call settings of ours. */
const OTHER_NAMES: Record<string, string> = {
  model_name: 'model',
  model_id: 'model',
  api_base: 'base_url',
  endpoint: 'base_url',
  url: 'base_url',
  max_retries: 'max_attempts',
  retries: 'max_attempts',
  timeout_seconds: 'timeout_ms',
}

/**
 * Reads `llm:`. A key that nobody knows is a parameter of the API; one that looks like a mistyped known one is pointed out,
 * and so is what other tools call one of ours.
 */
export function readLlm(value: unknown, file: YamlFile, findings: Findings): LlmSettings | undefined {
  if (saysNothing(value)) {
    reportMissingLlm(file, findings)
    return undefined
  }
  const parsed = parseLlm(value)
  if (!parsed.ok) reportForeign(parsed.problems, file, ['llm'], findings.error)
  if (isMap(value)) {
    for (const key of Object.keys(value)) checkName(key, file, findings)
    checkNumbers(value, file, findings)
  }
  return parsed.ok ? parsed.llm : undefined
}

function checkName(key: string, file: YamlFile, findings: Findings): void {
  const known = [...LLM_KEYS, ...API_PARAMETERS]
  if (known.includes(key) || key.startsWith('x-')) return
  const meant = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : nearestNames(key, known)[0]
  if (meant === undefined) return
  findings.unknownKey(
    file.locate(['llm', key], { key: true }),
    `llm: unknown key "${key}"; it would be sent to the API as it is.`,
    `Did you mean "${meant}"?`,
  )
}

/** Two parameters that mean the same to every server are looked at before a request is refused for them. */
function checkNumbers(llm: Record<string, unknown>, file: YamlFile, findings: Findings): void {
  for (const name of ['temperature', 'max_tokens']) {
    const value = llm[name]
    if (value === undefined || value === null) continue
    const path = ['llm', name]
    if (typeof value !== 'number') {
      findings.error(file.locate(path), sentence(path, `must be a number, not ${show(value)}`))
    } else if (name === 'temperature' && !(value >= 0 && value <= 2)) {
      findings.warn(file.locate(path), sentence(path, 'most servers take numbers from 0 to 2'))
    }
  }
}
