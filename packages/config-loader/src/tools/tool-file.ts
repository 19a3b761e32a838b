import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import { TOOL_FILE_KEYS, toolFileSchema } from '../schemas/agent-schema.js'
import { reportShape } from '../shape/report.js'
import { fitShape, withoutFaults } from '../shape/shape.js'
import type { YamlFile } from '../yaml/file.js'

interface ToolFile {
  imports: readonly unknown[]
  tools: readonly unknown[]
  /** Where the tools stand. */
  base: ValuePath
}

const BASE = ['tools']

/** What an imported file holds; where its form is wrong, whatever of it can be looked at all the same. */
export function readToolFile(file: YamlFile, findings: Findings): ToolFile {
  if (Array.isArray(file.value)) {
    findings.error(
      file.locate([]),
      'A file to import is a map, not a list.',
      'Write "tools:" above the list.',
    )
    return { imports: [], tools: file.value, base: [] }
  }
  const { value, problems } = fitShape(toolFileSchema, file.value, TOOL_FILE_KEYS)
  reportShape(problems, file, findings)
  const { imports, tools } =
    value ?? withoutFaults(toolFileSchema, file.value, problems, TOOL_FILE_KEYS) ?? {}
  if (value !== undefined && value.tools === undefined && value.imports === undefined) {
    findings.error(file.locate([]), 'An imported file must contain a list "tools:".')
  }
  return { imports: imports ?? [], tools: tools ?? [], base: BASE }
}
