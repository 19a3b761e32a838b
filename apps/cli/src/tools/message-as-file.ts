import { isAgentCommand } from '@delta/executor'
import type { ExpandedParameter, ExpandedTool } from '@delta/tool-expander'

/** A message for a sub-agent that a model writes after `-m`, where some texts have a special meaning. */
export interface MessageAsFile {
  path: string
  message: string
  hint: string
}

const FLAG = /^(?:-m|--message)$/
/** The flag and its value in one word: `--message=${task}`, `-m${task}`. */
const JOINED = /^(?:-m|--message=)\$\{(\w+)\}/
const VALUE = /^\$\{(\w+)\}/

/** A finding about a tool that calls an agent and would read a task beginning with `@` as a file. */
export function messageAsFile(tool: ExpandedTool): MessageAsFile | undefined {
  if (!isAgentCommand(tool.command)) return undefined
  const parameter = tool.parameters.find((each) => isMessage(each, tool))
  if (parameter === undefined || parameter.enum || parameter.pattern !== undefined) return undefined
  const { name } = parameter
  return {
    path: tool.__meta?.syntax ?? 'command',
    message: `"${name}" follows -m, where a text that begins with "@" is read as a file, and "-" as stdin.`,
    hint:
      parameter.inject_as === 'option'
        ? `Add -m and - to the command, and give the parameter inject_as: stdin.`
        : `Write -m - there, and as a key of the tool: stdin: ${name}`,
  }
}

function isMessage(
  { name, inject_as, option_name, position }: ExpandedParameter,
  tool: ExpandedTool,
): boolean {
  const { command } = tool
  if (inject_as === 'option') return FLAG.test(option_name ?? `--${name}`)
  if (inject_as === 'stdin') return false
  if (!tool.substitute) return position === 0 && FLAG.test(command.at(-1) ?? '') // values follow the command
  return command.some((word, index) => {
    const found = JOINED.exec(word) ?? (FLAG.test(command[index - 1] ?? '') ? VALUE.exec(word) : null)
    return found?.[1] === name
  })
}
