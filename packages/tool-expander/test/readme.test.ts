import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lintTool } from '../src/lint.js'
import { load, refusal } from './helper.js'

const README = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

/** The commands with a placeholder that the README shows between two of its texts. */
function shownBetween(beginning: string, end: string): string[] {
  const [text = ''] = README.slice(README.indexOf(beginning)).split(end)
  return [...text.matchAll(/`([^`]*\$\{\w+\}[^`]*)`/g)].map(([, command = '']) => command)
}

/** What `lintTool` says about values in a script; what is only bash's, or an option, is another matter. */
const findings = (shell: string): string[] =>
  lintTool(load({ shell, allow_dash: false }))
    .map(({ rule }) => rule)
    .filter((rule) => !/^(?:no-description|needs-bash|option-like-values)$/.test(rule))

test('what the README says is named loads, and is named', () => {
  const commands = shownBetween(
    '`lintTool` names a value in a program for another interpreter:',
    'It looks at the words',
  )
  expect(commands.length).toBeGreaterThan(11)
  for (const command of commands) expect(findings(command), command).not.toEqual([])
})

test('what the README says is not named loads, and is not', () => {
  const commands = shownBetween('- These load, and nothing names them:', '- A `pattern` is')
  expect(commands.length).toBeGreaterThan(20)
  for (const command of commands) expect(findings(command), command).toEqual([])
})

test('what the README says is refused is refused', () => {
  for (const shell of ['[[ 1 -eq ${x} ]]', '[ ${x:raw} ]', 'sh ${x:raw} f']) {
    expect(README).toContain(`\`${shell}\``)
    expect(refusal({ shell })).toContain('would become code')
  }
})
