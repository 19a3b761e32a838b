import { baseName } from '../programs.js'
import { beginningOf, isWholeParameter } from '../template.js'
import { readsProgram } from './fed-programs.js'
import type { LintFinding } from './finding.js'
import { hintFor } from './runners.js'
import type { ScriptCommand, ShellSource } from './source.js'

/** `echo ${x} | python3` and `cat ${file} | python3`: what a value says, or chooses, is run. */
export function fedPrograms(source: ShellSource): LintFinding[] {
  const { names, at, scan } = source
  const readers = source.commands.filter((each) => each.fedFrom < each.fedTo && readsProgram(each))
  if (readers.length === 0) return []
  const opened = openedIn(source)
  return readers.flatMap(({ words, fedFrom, fedTo }) => {
    const [first] = words
    const program = baseName(beginningOf(first?.pieces))
    const offset = first?.offset ?? 0
    const open = scan.found.slice(fedFrom, fedTo).filter(({ name }) => names.withCode.has(name))
    const spoken = open.find((value) => !opened.has(value.offset))
    if (spoken) {
      const message = `The value of \${${spoken.name}} becomes part of a program for ${program}.`
      return at('value-in-program', offset, message, hintFor(program))
    }
    const [chosen] = open
    // What a calculator reads in a file can do no more than count.
    if (chosen === undefined || program === 'bc') return []
    const message = `${program} runs what it reads here, and \${${chosen.name}} says from which file.`
    return at('value-in-program', offset, message, OF_A_FILE)
  })
}

const OF_A_FILE =
  'Give it an enum of the files that may be run. To only read them, let the program be told what to run.'

/** Programs that write what is in the files they are told, and nothing of the words themselves. */
const OPENS = /^(?:cat|tac|head|tail|cut|sort|uniq|paste|wc|rev|fold|expand|zcat)$/
/** The same behind their first operand. */
const OPENS_BEHIND = /^(?:[ef]?grep|g?sed|[gmn]?awk)$/

/** Where values stand that are a file's name and nothing else: an operand of such a program, or behind `<`. */
function openedIn({ commands, template, scan }: ShellSource): Set<number> {
  const behindRedirection = scan.found.filter(({ offset }) =>
    /(?<!<)< *"?$/.test(template.slice(Math.max(0, offset - 80), offset)),
  )
  const operands = commands.flatMap((command) =>
    command.words.flatMap(({ pieces }, index) =>
      isWholeParameter(pieces) && !pieces[0].raw && isFileOf(command, index) ? pieces : [],
    ),
  )
  return new Set([...behindRedirection, ...operands].map(({ offset }) => offset))
}

function isFileOf({ shapes }: ScriptCommand, index: number): boolean {
  const program = baseName(shapes[0])
  // The text of -d is written between the fields.
  if (/^-\w*d$/.test(shapes[index - 1] ?? '')) return false
  if (OPENS.test(program)) return true
  const operands = shapes.slice(1, index).filter((shape) => !shape.startsWith('-'))
  return OPENS_BEHIND.test(program) && operands.length > 0
}
