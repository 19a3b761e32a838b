import { ConfigError } from './errors.js'
import { type Findings, inReadingOrder } from './findings.js'
import { formatReport } from './format.js'
import { CONTEXT_MISSING } from './parts/context-file.js'

/** The error for files that were found and cannot be used: everything that is wrong with them, in reading order. */
export function invalid(findings: Findings): ConfigError {
  const problems = inReadingOrder(findings.problems)
  const warnings = inReadingOrder(findings.warnings)
  const onlyContext = problems.length === 1 && problems[0]?.message.startsWith(CONTEXT_MISSING)
  const code = onlyContext ? 'ERR_CONFIG_CONTEXT_MISSING' : 'ERR_CONFIG_INVALID'
  return new ConfigError(code, formatReport(problems, warnings), { problems, warnings })
}
