import { checkExpanded } from './check-expanded.js'
import { commandNotFound } from './lint/command-not-found.js'
import { commandValues } from './lint/command-values.js'
import { emptiedInExec, emptiedInShell } from './lint/emptied-option.js'
import { entriesOf } from './lint/entry.js'
import { environmentName } from './lint/environment-name.js'
import type { LintFinding } from './lint/finding.js'
import { followValues } from './lint/follows-values.js'
import { foreignPlaceholder } from './lint/foreign-placeholder.js'
import { literalCharacter } from './lint/literal-character.js'
import { needsBash } from './lint/needs-bash.js'
import { neverSet } from './lint/never-set.js'
import { noDescription, noParameterDescription } from './lint/no-description.js'
import { optionLikeValues } from './lint/option-like-values.js'
import { optionName, unreadOptionName } from './lint/option-name.js'
import { optionalMovesWords } from './lint/optional-moves-words.js'
import type { LintOptions } from './lint/options.js'
import { pathInProgram } from './lint/path-in-program.js'
import { positional } from './lint/positional.js'
import { programChosenInExec, programChosenInShell } from './lint/program-chosen.js'
import { raw } from './lint/raw.js'
import { runsExecArgument, runsShellArgument } from './lint/runs-argument.js'
import { runsVariable } from './lint/runs-variable.js'
import { scriptVariable } from './lint/script-variable.js'
import { scriptsInExec, scriptsInShell } from './lint/scripts-in-scripts.js'
import { slowPattern } from './lint/slow-pattern.js'
import { type ShellSource, sourceOf } from './lint/source.js'
import { stdinJson } from './lint/stdin-json.js'
import { unknownKey } from './lint/unknown-key.js'
import { valueInExecFormat, valueInShellFormat } from './lint/value-in-format.js'
import { valueInExecProgram, valueInShellProgram } from './lint/value-in-program.js'
import { ToolExpansionError } from './problems.js'
import type { ExpandedTool } from './tool.js'

export type { LintFinding, LintRule } from './lint/finding.js'
export type { LintOptions } from './lint/options.js'

// A rule lives in the file of its name. The order is that of the findings.
const TOOL_RULES = [noDescription, commandNotFound, commandValues, stdinJson]
const PARAMETER_RULES = [
  noParameterDescription,
  unknownKey,
  unreadOptionName,
  optionName,
  environmentName,
  slowPattern,
  optionLikeValues,
]
const EXEC_RULES = [
  programChosenInExec,
  optionalMovesWords,
  emptiedInExec,
  valueInExecProgram,
  valueInExecFormat,
  pathInProgram,
  runsExecArgument,
  scriptsInExec,
  literalCharacter,
  foreignPlaceholder,
]
const SHELL_RULES = [
  needsBash,
  emptiedInShell,
  raw,
  valueInShellProgram,
  valueInShellFormat,
  runsShellArgument,
  scriptsInShell,
  programChosenInShell,
  runsVariable,
  positional,
  scriptVariable,
  neverSet,
  foreignPlaceholder,
]

/** Rules for which a variable that holds a value is one. */
const FOLLOWING_RULES = [valueInShellProgram, valueInShellFormat, runsShellArgument, scriptsInShell]

/** What a reviewer would ask about a tool, in the order of its definition. Nothing here stops it from running. */
export function lintTool(tool: ExpandedTool, options: LintOptions = {}): LintFinding[] {
  checkExpanded(tool)
  checkLintOptions(options)
  const source = sourceOf(tool)
  return [
    ...TOOL_RULES.flatMap((rule) => rule(tool, options)),
    ...entriesOf(tool, source).flatMap((entry) => PARAMETER_RULES.flatMap((rule) => rule(entry, options))),
    ...(source?.syntax === 'exec' ? EXEC_RULES.flatMap((rule) => rule(source)) : []),
    ...(source?.syntax === 'shell' ? findingsInShell(source) : []),
  ]
}

function checkLintOptions(options: LintOptions): void {
  const { commandExists, environment } = options ?? {}
  const isUsable =
    options !== null &&
    (commandExists === undefined || typeof commandExists === 'function') &&
    (environment === undefined || (typeof environment === 'object' && environment !== null))
  const message = 'lintTool: Pass { commandExists, environment }, a function and an object, or nothing.'
  if (!isUsable) throw new ToolExpansionError([{ code: 'ERR_USAGE', path: '', message }])
}

/** In the script as it is, and in what variables that hold values make of it. */
function findingsInShell(source: ShellSource): LintFinding[] {
  const followed = followValues(source)
  const found = SHELL_RULES.flatMap((rule) => rule(source, followed))
  if (followed === undefined) return found
  const placeOf = ({ rule, line, column }: LintFinding) => `${rule} ${line} ${column}`
  const known = new Set(found.map(placeOf))
  const inVariables = FOLLOWING_RULES.flatMap((rule) => rule(followed.source))
  return [...found, ...inVariables.filter((finding) => !known.has(placeOf(finding)))]
}
