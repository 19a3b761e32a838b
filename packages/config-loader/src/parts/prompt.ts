import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../files/read-text.js'
import { displayName, isInside, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import { tildeHint } from '../path.js'
import type { YamlFile } from '../yaml/file.js'

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

  const refuse = (message: string, hint?: string) =>
    findings.error(main.locate(['system_prompt']), message, hint)
  const path = join(workplace.home, written)
  const read = readText(path)
  if (isText(written) && !read.ok) {
    refuse(
      'system_prompt: names a file; this is a text.',
      `Save the text as ${USUAL_PROMPT} and write: system_prompt: ${USUAL_PROMPT}`,
    )
    return undefined
  }
  if (!read.ok) {
    const hint =
      read.reason === 'missing'
        ? (tildeHint(written) ??
          `Write the agent's instructions into ${displayName(workplace, path)}, or name the file of the agent's directory that holds them.`)
        : undefined
    refuse(`system_prompt: the file "${written}" ${read.message}.`, hint)
    return undefined
  }
  if (!isInside(realpathSync.native(path), workplace.home)) {
    refuse(`system_prompt: "${written}" leads out of the agent's directory.`)
    return undefined
  }
  return { name: written, text: read.text }
}

/** Several words without the ending of a file: what other programs take here. */
function isText(written: string): boolean {
  return /\s/.test(written.trim()) && !/\.\w+$/.test(written)
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
