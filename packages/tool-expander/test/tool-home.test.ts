import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { argvOf, call, load, refusal, SHELLS } from './helper.js'

type Case = { it: string; tool: object } & (
  | { args: object; command: string[]; argv: string[] }
  | { refused: string }
)

const cases = parse(readFileSync(new URL('cases/tool-home.yaml', import.meta.url), 'utf8')) as Case[]

describe('${TOOL_HOME}', () => {
  test.each(cases)('$it', (each) => {
    if ('refused' in each) return expect(refusal(each.tool)).toContain(each.refused)
    expect(load(each.tool).command).toEqual(each.command)
    expect(load(load(each.tool))).toEqual(load(each.tool)) // the full form loads as the same tool
    expect(argvOf(each.tool, each.args)).toEqual(each.argv)
  })

  test.each(SHELLS)('is one word in %s, whatever stands around it', async (shell) => {
    const tool = { shell: 'printf "<%s>" ${TOOL_HOME} ${TOOL_HOME}/x "${TOOL_HOME}/${p}" ${AGENT_HOME}' }
    const { stdout } = await call(tool, { p: '`id`' }, { shell })
    expect(stdout).toBe('</tool home></tool home/x></tool home/`id`></agent home>')
  })
})
