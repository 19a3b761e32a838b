import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ScriptTurn } from '@delta/model'
import { type LlmSettings, safeParseScript } from '@delta/model/internal'
import { displayName, isInside, readText, readYaml, tildeHint, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { report, wrong } from './shape.js'
import type { YamlFile } from './yaml.js'

/** The file with the agent's instructions. */
export interface Prompt {
  /** Relative to the agent's directory. */
  name: string
  text: string
}

/** Where instructions are looked for if `system_prompt:` does not say. */
export const USUAL_PROMPT = 'system_prompt.md'
const OLD_NAME = 'system_prompt.txt'

/**
 * Reads the agent's prompt file. Undefined if there is none, or none that can be used.
 *
 * The file named by `system_prompt:` must be there, inside the agent's directory.
 */
export function readPrompt(
  written: string | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  findings: Findings,
): Prompt | undefined {
  if (written === undefined || main === undefined) return readUsualPrompt(workplace, findings)

  const spot = { file: main, path: ['system_prompt'], findings }
  const path = join(workplace.home, written)
  const read = readText(path)
  if (read.ok && isInside(realpathSync.native(path), workplace.home))
    return { name: written, text: read.text }
  if (read.ok) wrong(spot, `"${written}" leads out of the agent's directory`)
  else if (/\s/.test(written.trim()) && !/\.\w+$/.test(written)) {
    const hint = `Save the text as ${USUAL_PROMPT} and write: system_prompt: ${USUAL_PROMPT}`
    wrong(spot, 'names a file; this is a text', hint)
  } else {
    const toWrite = `Write the agent's instructions into ${displayName(workplace, path)}, or name the file of the agent's directory that holds them.`
    const hint = read.reason === 'missing' ? (tildeHint(written) ?? toWrite) : undefined
    wrong(spot, `the file "${written}" ${read.message}`, hint)
  }
  return undefined
}

function readUsualPrompt(workplace: Workplace, findings: Findings): Prompt | undefined {
  for (const name of [USUAL_PROMPT, OLD_NAME]) {
    const path = join(workplace.home, name)
    const read = readText(path)
    if (!read.ok && read.reason === 'missing') continue
    const file = displayName(workplace, path)
    if (!read.ok) {
      findings.error({ file }, `${read.message}.`)
      return undefined
    }
    if (name === OLD_NAME)
      findings.deprecated({ file }, `${OLD_NAME} is now called ${USUAL_PROMPT}.`, 'Rename the file.')
    return { name, text: read.text }
  }
  return undefined
}

/** Reads the turns of a scripted model from the file that `llm.script` names. */
export function readScript(
  llm: LlmSettings | undefined,
  main: YamlFile,
  workplace: Workplace,
  findings: Findings,
): ScriptTurn[] | undefined {
  if (llm?.provider !== 'script' || llm.script === undefined) return undefined
  const spot = { file: main, path: ['llm', 'script'], findings }
  const path = resolve(workplace.home, llm.script)
  const { exists, file } = readYaml(path, workplace, findings)
  if (!exists) {
    const hint = tildeHint(llm.script) ?? "The path is relative to the agent's directory."
    wrong(spot, `"${llm.script}" does not exist`, hint)
  }
  if (file === undefined) return undefined
  if (!isInside(realpathSync.native(path), workplace.home)) {
    wrong(spot, `"${llm.script}" leads out of the agent's directory`)
    return undefined
  }
  const parsed = safeParseScript(file.value)
  if (parsed.ok) return parsed.turns
  report(parsed.problems, { file, path: [], findings })
  return undefined
}
