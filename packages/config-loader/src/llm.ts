import { type LlmSettings, parseLlm } from '@delta/model'
import type { Findings } from './findings.js'
import { nearestName } from './nearest.js'
import { reportForeign } from './report.js'
import type { YamlFile } from './yaml-file.js'

/** Keys of `llm:` that are not parameters of the API. */
export const LLM_KEYS = ['provider', 'model', 'base_url', 'script', 'command', 'timeout_ms', 'max_attempts']

/** Reads `llm:`. Keys nobody knows are parameters of the API, but one that looks like a mistyped one of ours is named. */
export function readLlm(value: unknown, file: YamlFile, findings: Findings): LlmSettings | undefined {
  const parsed = parseLlm(value ?? {})
  if (!parsed.ok) {
    reportForeign(parsed.problems, file, ['llm'], findings.error)
    return undefined
  }
  for (const key of Object.keys(parsed.llm.parameters)) {
    const nearest = nearestName(key, LLM_KEYS)
    if (nearest === undefined || nearest in (value as object)) continue
    const place = file.locate(['llm', key], { key: true })
    findings.warn(
      place,
      `llm.${key}: is passed to the API as a parameter of this name.`,
      `Did you mean "${nearest}"?`,
    )
  }
  return parsed.llm
}
