import type { ExpandedTool } from '../tool.js'
import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** A tool that says nothing about itself. */
export function noDescription({ name, description }: ExpandedTool): LintFinding[] {
  return description ? [] : [onlyName('description', name)]
}

/** A parameter that says nothing about itself. */
export function noParameterDescription({ parameter, path }: Entry): LintFinding[] {
  return parameter.description ? [] : [onlyName(path, parameter.name)]
}

function onlyName(path: string, name: string): LintFinding {
  return findingAbout('no-description', path, `The model learns of ${name} only its name.`)
}
