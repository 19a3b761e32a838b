import { findProgramText } from '../program-text.js'
import { isShell } from '../programs.js'
import { isEngineVariable, type Part, type Placeholder } from '../template.js'
import type { LintFinding } from './finding.js'
import { hintFor } from './runners.js'
import type { ExecSource } from './source.js'

/** `sh -c 'ls ${CWD}'`: of a path with a blank the script makes two words, and of one with a `;` two commands. */
export function pathInProgram({ words, at }: ExecSource): LintFinding[] {
  return findProgramText(words.map(({ shape }) => shape)).flatMap(([index, interpreter]) => {
    const path = words[index]?.pieces.find(isPath)
    const message = `The path becomes part of a program for ${interpreter}, with whatever characters it has.`
    const hint = isShell(interpreter)
      ? `Hand it over beside it: ${interpreter} -c '… "$1"' _ \${path}`
      : hintFor(interpreter)
    return path ? [at('path-in-program', path.offset, message, hint)] : []
  })
}

function isPath(piece: Part): piece is Placeholder {
  return typeof piece === 'object' && isEngineVariable(piece.name)
}
