import type { ExpandedTool } from '../tool.js'
import { findingAbout, type LintFinding } from './finding.js'

/** `stdin: json` beside a parameter called json, which is then the one that is meant. */
export function stdinJson({ __meta: origin, stdin }: ExpandedTool): LintFinding[] {
  if (origin?.stdin !== 'json' || stdin === 'json') return []
  const message = 'stdin: json is the value of the parameter json alone, not all arguments as JSON.'
  return [findingAbout('stdin-json', 'stdin', message, 'Rename the parameter for that.')]
}
