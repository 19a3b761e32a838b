/** What can be wrong with a tool's definition. Branch on these; the messages are for people. */
export type ToolProblemCode =
  | 'ERR_TOOL_SHAPE'
  | 'ERR_TOOL_NAME'
  | 'ERR_TOOL_MODE'
  | 'ERR_PARAMETER'
  | 'ERR_PARAMETER_UNKNOWN'
  | 'ERR_PARAMETER_OVERRIDE'
  | 'ERR_PARAMETER_OPTIONAL'
  | 'ERR_STDIN'
  | 'ERR_PLACEHOLDER'
  | 'ERR_QUOTE'
  | 'ERR_RAW_IN_EXEC'
  | 'ERR_EXEC_METACHARACTER'
  | 'ERR_EXEC_VARIABLE'
  | 'ERR_COMMAND_WORD'
  | 'ERR_PROGRAM_TEXT'
  | 'ERR_SHELL_CODE'
  | 'ERR_SHELL_POSITIONAL'
  | 'ERR_SHELL_SYNTAX'
  | 'ERR_USAGE'

const AS_ARGUMENT = `Hand it over as an argument: sh -c '… "$1"' _ \${value}`

/** For the words of `ssh` in exec:, which have no arguments on the other side. */
export const TO_SSH = 'Give it an enum of letters and digits. Or as stdin: ssh host xargs -0 cat --'

/** What to write instead, where the place itself does not say something better. */
export const HINTS: Partial<Record<ToolProblemCode, string>> = {
  ERR_TOOL_NAME: 'Write name: list_files.',
  ERR_PARAMETER_UNKNOWN: 'Write ${name} in it, stdin: name, or use command: with inject_as: option.',
  ERR_PARAMETER_OVERRIDE: 'Remove it, or for an input write stdin: name.',
  ERR_PARAMETER_OPTIONAL:
    'Give it a default, write --option=${name}, or use command: with inject_as: option.',
  ERR_STDIN: 'Keep one of them.',
  ERR_PLACEHOLDER:
    'Write ${name} (letters, digits, _) for a value, its default under parameters:, \\${ for a literal ${.',
  ERR_QUOTE: 'Close it, or write \\ before it.',
  ERR_RAW_IN_EXEC: 'Use shell:, or remove :raw.',
  ERR_EXEC_METACHARACTER:
    'In shell: parameters are passed safely quoted, too. Or write command: as an array.',
  ERR_EXEC_VARIABLE: 'Use shell:, or single quotes.',
  ERR_COMMAND_WORD: 'Begin with a program, not a value.',
  ERR_PROGRAM_TEXT: `${AS_ARGUMENT}, watch -x ls \${value}, python3 -c '… sys.argv[1]' \${value}. Or as stdin:.`,
  ERR_SHELL_CODE: `${AS_ARGUMENT}. To trap, watch, git: export x=\${value}; watch 'ls "$x"'. To ssh: as stdin:.`,
  ERR_SHELL_POSITIONAL:
    'Assign it to another name: x=${value}; … ${x%.txt}. Or hand it over: f() { … "$1"; }; f ${value}',
  ERR_SHELL_SYNTAX: 'Write it another way, or move it into a file.',
}
