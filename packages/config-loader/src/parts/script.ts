import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type LlmSettings, parseScript, type ScriptTurn } from '@delta/model'
import { isInside, readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import { tildeHint } from '../path.js'
import { reportForeign } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'

/** Reads the turns of a scripted model from the file that `llm.script` names. */
export function readScript(
  llm: LlmSettings | undefined,
  main: YamlFile,
  workplace: Workplace,
  findings: Findings,
): ScriptTurn[] | undefined {
  if (llm?.provider !== 'script' || llm.script === undefined) return undefined
  const refuse = (message: string, hint?: string) =>
    findings.error(main.locate(['llm', 'script']), message, hint)
  const path = resolve(workplace.home, llm.script)
  const { exists, file } = readYaml(path, workplace, findings)
  if (!exists) {
    refuse(
      `llm.script: "${llm.script}" does not exist.`,
      tildeHint(llm.script) ?? "The path is relative to the agent's directory.",
    )
    return undefined
  }
  if (file === undefined) return undefined
  if (!isInside(realpathSync.native(path), workplace.home)) {
    refuse(`llm.script: "${llm.script}" leads out of the agent's directory.`)
    return undefined
  }
  const parsed = parseScript(file.value)
  if (parsed.ok) return parsed.turns
  reportForeign(parsed.problems, file, [], findings.error)
  return undefined
}
