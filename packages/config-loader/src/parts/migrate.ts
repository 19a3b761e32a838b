import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import type { YamlFile } from '../yaml/file.js'

/**
 * Reads version 1.1's `llm_config: { model_name }` as `llm: { model }`, and says so.
 *
 * @returns the file with its value in today's spelling; places are still those of what is written.
 */
export function migrateMainFile(file: YamlFile, findings: Findings): YamlFile {
  const value = file.value
  if (!isMap(value) || !isMap(value.llm_config)) return file

  const { llm_config: old, ...rest } = value
  const place = file.locate(['llm_config'], { key: true })
  if (value.llm !== undefined) {
    findings.error(
      place,
      '"llm_config" is the old name of "llm", which is given as well.',
      'Remove llm_config.',
    )
    return { ...file, value: rest }
  }
  findings.deprecated(
    place,
    '"llm_config" is now called "llm", and "model_name" in it "model".',
    'Rename them.',
  )

  const { model_name: model, ...parameters } = old as Record<string, unknown>
  const renamed = model !== undefined && parameters.model === undefined
  const locate: YamlFile['locate'] = (path, at) =>
    file.locate(path[0] === 'llm' ? oldPath(path, renamed) : path, at)
  return { ...file, value: { ...rest, llm: renamed ? { model, ...parameters } : old }, locate }
}

function oldPath([, key, ...inner]: ValuePath, renamed: boolean): ValuePath {
  if (key === undefined) return ['llm_config']
  return ['llm_config', renamed && key === 'model' ? 'model_name' : key, ...inner]
}
