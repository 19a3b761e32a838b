import { expect, test } from 'vitest'
import { bindArguments, expandTool, isToolExpansionError, safeParseTool } from '../src/index.js'
import { load } from './helper.js'

// What JavaScript can do and the types forbid.

function thrownBy(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (!isToolExpansionError(error)) throw error
    return `${error.code}: ${error.message}`
  }
  throw new Error('nothing was thrown')
}

const tool = load({ exec: 'ls ${AGENT_HOME} ${CWD} ${TOOL_HOME}' })

test.each([undefined, 1, null, '', 'work', '-x', './work', '/a\0b'])(
  'a variable that is %j is no absolute path',
  (path) => {
    for (const paths of [
      { AGENT_HOME: '/a', CWD: path, TOOL_HOME: '/t' },
      { AGENT_HOME: path, CWD: '/c', TOOL_HOME: '/t' },
      { AGENT_HOME: '/a', CWD: '/c', TOOL_HOME: path },
    ])
      expect(thrownBy(() => bindArguments(tool, {}, { variables: paths } as never))).toContain(
        'Pass { variables: { AGENT_HOME, CWD, TOOL_HOME } }, all absolute.',
      )
  },
)

test('safeParseTool never throws, whatever its input does', () => {
  const message = 'This tool cannot be read: no'
  const fail = () => {
    throw new Error('no')
  }
  const hasGetter = Object.defineProperty({ name: 't' }, 'exec', { get: fail, enumerable: true })
  for (const input of [hasGetter, new Proxy({}, { ownKeys: fail }), new Proxy({}, { get: fail, has: fail })])
    expect(safeParseTool(input)).toMatchObject({ ok: false })
  expect(safeParseTool(hasGetter)).toMatchObject({ problems: [{ code: 'ERR_TOOL_SHAPE', message }] })
})

test('expandTool checks a definition that did not come from safeParseTool', () => {
  expect(thrownBy(() => expandTool(null as never))).toContain('A tool must be a mapping')
  expect(thrownBy(() => expandTool({ name: 't', exec: 5 } as never))).toContain(
    'tool "t": exec must be a string',
  )
  expect(thrownBy(() => expandTool(safeParseTool({ name: 't', exec: 'ls' }) as never))).toContain(
    'name is missing\nWrite name: list_files.',
  )
})
