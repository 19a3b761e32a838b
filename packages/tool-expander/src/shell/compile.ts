import type { Compiled, Inferred } from '../inferred.js'
import { problemAt, type ToolProblem } from '../problems.js'
import { isEngineVariable, readReference, writeElement } from '../template.js'

/** Compiles a `shell:` template to `sh -c` with positional parameters. */
export function compileShell(template: string): { compiled?: Compiled; problems: ToolProblem[] } {
  const problems: ToolProblem[] = []
  const names: string[] = []
  const inferred = new Map<string, Inferred>()
  const pieces: { text: string; name?: string; raw?: boolean; quote: string }[] = []
  let quote = ''
  let text = ''
  const refuse = (offset: number, message: string, hint: string) => {
    problems.push(problemAt(offset, template, { code: 'ERR_SHELL_SYNTAX', path: 'shell', message, hint }))
  }
  for (let offset = 0; offset < template.length; offset++) {
    const character = template.charAt(offset)
    const reference = character === '$' ? readReference(template, offset) : undefined
    if (character === '\\' && quote !== "'") {
      text += template.slice(offset, offset + 2)
      offset += 1
    } else if (reference !== undefined) {
      if (/`|<<|\$\(\(|\(\(/.test(template))
        refuse(offset, 'No placeholder can stand in such a script yet.', '')
      pieces.push({ text, name: reference.name, raw: reference.modifier === 'raw', quote })
      if (!names.includes(reference.name)) names.push(reference.name)
      if (!isEngineVariable(reference.name)) {
        inferred.set(reference.name, {
          name: reference.name,
          injectAs: 'argument',
          raw: reference.modifier === 'raw',
          offset,
          allowDash: reference.modifier === 'raw',
          single: true,
        })
      }
      text = ''
      offset += reference.length - 1
    } else {
      if (character === quote) quote = ''
      else if (quote === '' && (character === '"' || character === "'")) quote = character
      text += character
    }
  }
  if (quote !== '') refuse(template.length, `A ${quote} is never closed.`, '')
  const ordered = [...names.filter((name) => !isEngineVariable(name)), ...names.filter(isEngineVariable)]
  const script = `${pieces
    .map((piece) => {
      const number = ordered.indexOf(piece.name ?? '') + 1
      const positional = number > 9 ? `\${${number}}` : `$${number}`
      const bare = piece.quote === '"' || (piece.raw && piece.quote === '')
      return piece.text + (bare ? positional : piece.quote === "'" ? `'"${positional}"'` : `"${positional}"`)
    })
    .join('')}${text}`
  const parameters = [...inferred.values()].map((known, position) => ({ ...known, position }))
  const substitute = ordered.some(isEngineVariable) || /\$\{(AGENT_HOME|CWD)\}/.test(script)
  const command = ['sh', '-c', script, '--']
  return {
    compiled: {
      command: substitute
        ? [...command.map((word) => writeElement([word])), ...ordered.map((name) => `\${${name}}`)]
        : command,
      substitute,
      inferred: parameters,
      checkedWords: [],
    },
    problems,
  }
}
