import { baseName, isShell, operandIndex } from '../programs.js'
import { STANDARD_INPUT, shellIndex } from '../shell/scripts.js'
import { beginningOf } from '../template.js'
import { commandIndex } from './parallel.js'
import type { ScriptCommand } from './source.js'

// What commands make of what a pipe or a here-document feeds to them.

/** Programs that run what they read when they are not told what to run. */
const READS_PROGRAM =
  /^(?:python[\d.]*|node|perl|ruby|php|lua[\d.]*|julia|R|gnuplot|osascript|tclsh[\d.]*|expect|bc|dc|m4|batch|make|crontab)$/
/** Programs that do so whatever they are told. */
const READS_COMMANDS = /^(?:at|ed|ex|gdb)$/
/** Behind these words a program stands that another one starts. */
const STARTS = /^(?:exec|run|--)$/
/** Programs that run the file of -f. */
const READS_FILE = /^(?:[gmn]?awk|g?sed|g?make|jq|psql)$/
/** Programs that run what they read although they are told a database. */
const CLIENT = /^(?:psql|mysql|sqlite3)$/

/** Whether a command that starts no shell runs what it reads. */
export function readsProgram({ words, texts, shapes }: ScriptCommand): boolean {
  const [name = '', ...operands] = words.map(({ pieces }) => baseName(beginningOf(pieces)))
  // Behind the destination stands what to run, and then it is that which reads.
  if (name === 'ssh') return !texts.some(([index]) => index === words.length - 1)
  if (name === 'parallel' && commandIndex(shapes, 0) === shapes.length) return true
  if (name === 'xargs' || name === 'parallel') {
    if (operands.includes('ssh')) return true
    // -I makes what is read part of the script, and a script that is missing is read, too.
    const script = shapes[texts.at(-1)?.[0] ?? 0] ?? ''
    return operands.some((word) => isShell(word)) && (texts.length < 2 || /[{%]/.test(script))
  }
  if (READS_COMMANDS.test(name) || feedsShell(operands)) return true
  if (CLIENT.test(name)) return texts.length === 0
  // sed -f -, make -f -
  const isTold = operands.some(
    (word, index) =>
      /^-f(?:-|\/dev\/stdin)$|^--file=-$/.test(word) ||
      (/^-\w*f$/.test(word) && /^(?:-|\/dev\/stdin)$/.test(operands[index + 1] ?? '')),
  )
  if (isTold && READS_FILE.test(name)) return true
  return READS_PROGRAM.test(name) && operands.every((word) => word.startsWith('-'))
}

/** `heroku run bash`, `pipenv run sh -s`: a shell by its name behind what starts programs, and no script behind it. */
function feedsShell(operands: readonly string[]): boolean {
  const starts = operands.findIndex((word) => STARTS.test(word))
  const shell = operands.findIndex((word, index) => index > starts && isShell(word))
  return starts >= 0 && shell > 0 && operands.slice(shell + 1).every((word) => STANDARD_INPUT.test(word))
}

/** Whether a command starts a shell that reads its script from standard input. */
export function readsScript({ shapes, texts }: ScriptCommand): boolean {
  const at = shellIndex(shapes)
  if (at < 0 || texts.length > 0) return false
  const file = operandIndex(shapes, at)
  return file === shapes.length || shapes.slice(at + 1, file + 1).some((word) => STANDARD_INPUT.test(word))
}

/** Whether a pipe or a redirection of its own feeds a command; what is around it, a group or a function, is no matter. */
export function hasOwnInput(template: string, { offset }: ScriptCommand): boolean {
  let end = offset
  while (/\s/.test(template.charAt(end - 1))) end -= 1
  return (
    /\|&?$/.test(template.slice(Math.max(0, end - 2), end)) || /^[^\n;|&()]*</.test(template.slice(offset))
  )
}
