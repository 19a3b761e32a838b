import { findProgramText } from '../program-text.js'
import { baseName, isShell } from '../programs.js'
import { readsProgram } from './fed-programs.js'
import type { LintFinding } from './finding.js'
import type { Source } from './source.js'

const HINT = `Hand it over beside it: sh -c '… "$1"' _ {}`

/** `find -exec sh -c "ls {}"` and `xargs -I{} sh -c "ls {}"`: a file's name, or what is read, becomes a part of the script. */
export function putInScript({ at, ...source }: Source): LintFinding[] {
  const commands =
    source.syntax === 'exec'
      ? [wordsOf(source.words, source.template)]
      : source.commands.filter((command) => !(command.fedFrom < command.fedTo && readsProgram(command)))
  return commands.flatMap(({ shapes, offset }) => {
    const [runner, mark] = markOf(shapes)
    if (mark === undefined) return []
    return findProgramText(shapes)
      .filter(([index, interpreter]) => isShell(interpreter) && shapes[index]?.includes(mark))
      .slice(0, 1)
      .map(() =>
        at('value-in-program', offset, `What ${runner} puts for ${mark} becomes part of a script.`, HINT),
      )
  })
}

function wordsOf(
  words: readonly { shape: string }[],
  template: string,
): { shapes: string[]; offset: number } {
  return { shapes: words.map(({ shape }) => shape), offset: template.search(/\S/) }
}

/** Who replaces a text in the words behind it, and which text. */
function markOf(shapes: readonly string[]): [runner: string, mark?: string] {
  const place = shapes.findIndex((shape) => /^(?:find|fd|xargs)$/.test(baseName(shape)))
  const runner = baseName(shapes[place])
  if (place < 0) return [runner]
  if (runner !== 'xargs') return [runner, '{}']
  for (const [index, shape] of shapes.entries()) {
    if (index <= place) continue
    const [written, attached] = /^(?:-[0rt]*I|-i|--replace(?:=|$))(.*)/s.exec(shape) ?? []
    if (written !== undefined)
      return [runner, attached || (written.endsWith('I') && shapes[index + 1]) || '{}']
    if (!shape.startsWith('-') && !/^-[a-zA-Z]$/.test(shapes[index - 1] ?? '')) return [runner]
  }
  return [runner]
}
