import { asWritten, compileCommand } from './command.js'
import { defined } from './defined.js'
import type { ToolDefinition } from './definition.js'
import { compileExec } from './exec.js'
import type { Compiled, Inferred } from './inferred.js'
import { mergeParameters } from './merge.js'
import { checkOptionalWords, isOptional } from './optional.js'
import { problemOf, type ToolProblem } from './problems.js'
import { compileShell } from './shell/compile.js'
import type { ExpandedTool, ToolOrigin } from './tool.js'

/** Expands as far as it goes, and says everything that is wrong. */
export function compileTool(definition: ToolDefinition): { tool: ExpandedTool; problems: ToolProblem[] } {
  const { name, description, exec, shell, stdin, parameters: explicit = [], allow_dash, __meta } = definition
  const { command, substitute, inferred, checkedWords, words = [], problems } = compileSyntax(definition)
  problems.push(...checkModes(definition), ...checkStdin(inferred, stdin))
  const all = inferred.filter(({ name }) => name !== stdin)
  if (stdin !== undefined) all.push({ name: stdin, inject_as: 'stdin' })
  // Behind a broken template every parameter would look unknown.
  if (problems.length > 0) all.push(...explicit.map(asWritten))
  const merged = mergeParameters(all, explicit, allow_dash)
  const { parameters } = merged
  problems.push(...merged.problems, ...checkOptionalWords(words, parameters))
  // A missing optional value is an empty text in a script. Said here, the full form needs no rule for it.
  if (shell !== undefined) {
    for (const parameter of parameters)
      if (parameter.inject_as === 'argument' && isOptional(parameter)) parameter.default = ''
  }
  const syntax: ToolOrigin['syntax'] = exec === undefined ? 'shell' : 'exec'
  const template = exec ?? shell
  const tool: ExpandedTool = defined({
    name,
    description,
    command,
    parameters: parameters.map(defined),
    substitute: substitute || undefined,
    allow_dash,
    checked_words: checkedWords?.length ? checkedWords : undefined,
    __meta: template === undefined ? __meta && defined(__meta) : defined({ syntax, template, stdin }),
  })
  return { tool, problems }
}

/** What the template alone says. */
export function compileSyntax(definition: ToolDefinition): Compiled {
  const { exec, shell, parameters, stdin } = definition
  if (exec !== undefined) return compileExec(exec, parameters, stdin)
  return shell === undefined ? compileCommand(definition) : compileShell(shell, parameters, stdin)
}

function checkModes({ exec, shell, command }: ToolDefinition): ToolProblem[] {
  const count = [exec, shell, command].filter((mode) => mode !== undefined).length
  if (count === 1) return []
  const conflict = count ? 'exec:, shell:, and command: are mutually exclusive. ' : ''
  const message = `${conflict}Tool must specify exactly one of: exec, shell, or command`
  return [problemOf('ERR_TOOL_MODE', '', message)]
}

function checkStdin(inferred: readonly Inferred[], stdin: string | undefined): ToolProblem[] {
  const others = inferred.filter(({ name, inject_as, single }) =>
    name === stdin ? single !== undefined : inject_as === 'stdin',
  )
  if (others.length < (stdin === undefined ? 2 : 1)) return []
  return [problemOf('ERR_STDIN', 'stdin', 'Only one parameter can go to stdin, and to no other place')]
}
