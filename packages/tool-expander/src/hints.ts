import type { ToolProblemCode } from './problems.js'

/** What to write instead, where the place itself does not say something better. */
export const HINTS: Partial<Record<ToolProblemCode, string>> = {
  ERR_PARAMETER: 'Correct it.',
  ERR_PARAMETER_UNKNOWN:
    'Write ${name} where it belongs, stdin: name, or use command: with inject_as: option.',
  ERR_PARAMETER_OVERRIDE: 'Remove it here; the template decides. For standard input, write stdin: name.',
  ERR_STDIN: 'One value goes to stdin, and to no other place. Remove the placeholder, or stdin:.',
  ERR_PLACEHOLDER: 'Write ${name} for a value, \\${ for a literal ${.',
  ERR_QUOTE: 'Close it. For the character itself, write a backslash before it.',
  ERR_RAW_IN_EXEC: 'Use shell:, or remove :raw; here every value is one argument.',
  ERR_EXEC_METACHARACTER:
    'Use shell: for pipes and redirects; parameters are still passed safely quoted. Or write command: as an array.',
  ERR_EXEC_VARIABLE:
    'Use shell: to expand it, ${AGENT_HOME} or ${CWD}, or single quotes for the text itself.',
  ERR_COMMAND_WORD: 'Begin with a program, and write a tool for each: ls -F ${directory}',
  ERR_PROGRAM_TEXT: 'Make it an argument of its own; programs find it in "$1" or sys.argv.',
  ERR_SHELL_CODE: `Hand it over as an argument: sh -c '… "$1"' _ \${value}. Or in a variable: x=\${value}; … "$x"`,
  ERR_SHELL_POSITIONAL:
    'Assign it first, under another name: x=${value}; … ${x%.txt}. Or hand it over: f() { echo "$1"; }; f ${value}',
  ERR_SHELL_SYNTAX: 'Write it another way, or move it into a file.',
}
