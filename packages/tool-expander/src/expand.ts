import { asWritten, compileCommand } from './command.js'
import { defined } from './defined.js'
import { compileExec } from './exec.js'
import type { Compiled, Inferred } from './inferred.js'
import { mergeParameters } from './merge.js'
import { checkOptionalWords, isOptional } from './optional.js'
import { ToolExpansionError, type ToolProblem } from './problems.js'
import type { ToolDefinition } from './schema.js'
import { compileShell } from './shell/compile.js'
import type { ExpandedTool, ToolOrigin } from './tool.js'

/**
 * The full form of a tool: an argument vector, and for each parameter where its value goes.
 *
 * @throws {ToolExpansionError} with every problem, for a definition `parseTool` would have refused.
 */
export function expandTool(definition: ToolDefinition): ExpandedTool {
  const { tool, problems } = COMPILED.get(definition) ?? compileTool(definition)
  COMPILED.delete(definition)
  const [first, ...others] = problems
  if (first) throw new ToolExpansionError(definition.name, [first, ...others])
  return tool
}

/** What `parseTool` has just compiled, so that the `expandTool` behind it need not do so again. */
const COMPILED = new WeakMap<ToolDefinition, { tool: ExpandedTool; problems: ToolProblem[] }>()

/** Expands as far as it goes, and says everything that is wrong. */
export function compileTool(definition: ToolDefinition): { tool: ExpandedTool; problems: ToolProblem[] } {
  const { name, description, exec, shell, stdin, parameters: explicit = [], allow_dash, __meta } = definition
  const { command, substitute, inferred, checkedWords, words = [], ...compiled } = compileSyntax(definition)
  const problems = [...compiled.problems, ...checkModes(definition), ...checkStdin(inferred, stdin)]
  const all = inferred.filter((known) => known.name !== stdin)
  if (stdin !== undefined) all.push({ name: stdin, injectAs: 'stdin' })
  // Behind a broken template every parameter would look unknown.
  if (problems.length > 0) all.push(...explicit.map(asWritten))
  const { parameters, ...merged } = mergeParameters(all, explicit)
  problems.push(...merged.problems, ...checkOptionalWords(words, parameters))
  for (const parameter of parameters) {
    if (parameter.inject_as !== 'argument') continue
    if (allow_dash) parameter.allow_dash = true
    // A missing optional value is an empty text in a script. Said here, the full form needs no rule for it.
    if (shell !== undefined && isOptional(parameter)) parameter.default = ''
  }
  const syntax: ToolOrigin['syntax'] = exec === undefined ? 'shell' : 'exec'
  const template = exec ?? shell
  const tool: ExpandedTool = defined({
    name,
    description,
    command,
    parameters,
    substitute: substitute ? (true as const) : undefined,
    allow_dash,
    checked_words: checkedWords.length > 0 ? [...checkedWords] : undefined,
    __meta: template === undefined ? __meta && defined(__meta) : defined({ syntax, template, stdin }),
  })
  const result = { tool, problems }
  COMPILED.set(definition, result)
  return result
}

function compileSyntax(definition: ToolDefinition): Compiled {
  const { exec, shell } = definition
  if (exec !== undefined) return compileExec(exec)
  return shell === undefined ? compileCommand(definition) : compileShell(shell)
}

function checkModes({ exec, shell, command }: ToolDefinition): ToolProblem[] {
  const count = [exec, shell, command].filter((mode) => mode !== undefined).length
  if (count === 1) return []
  const rule = 'Tool must specify exactly one of: exec, shell, or command'
  const message = count === 0 ? rule : `exec:, shell:, and command: are mutually exclusive. ${rule}`
  return [{ code: 'ERR_TOOL_MODE', path: '', message }]
}

function checkStdin(inferred: readonly Inferred[], stdin: string | undefined): ToolProblem[] {
  const problems: ToolProblem[] = []
  const refuse = (message: string, hint: string) => {
    problems.push({ code: 'ERR_STDIN', path: 'stdin', message, hint })
  }
  const others = inferred.filter(({ name, injectAs }) => injectAs === 'stdin' && name !== stdin)
  const names = [...others.map(({ name }) => name), stdin].filter((name) => name !== undefined)
  if (names.length > 1) {
    refuse(`Only one parameter can go to stdin, not ${names.join(' and ')}`, 'Pass the others as arguments.')
  }
  if (inferred.some(({ name, single }) => name === stdin && single !== undefined)) {
    const message = `Parameter '${stdin}' is declared as stdin: and stands in the template, too`
    refuse(message, 'A value goes to one place. Remove the placeholder, or stdin:.')
  }
  return problems
}
