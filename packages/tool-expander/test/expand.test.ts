import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { expandTool, isToolExpansionError, safeParseTool } from '../src/index.js'
import { argvOf, bind, call, load, refusal } from './helper.js'

const ARGUMENT = { type: 'string', inject_as: 'argument', required: true }

describe("the specification's own expansions", () => {
  test('exec: with placeholders at the end', () => {
    expect(load({ name: 'run_script', exec: 'bash -c ${script}' })).toEqual({
      name: 'run_script',
      command: ['bash', '-c'],
      parameters: [{ name: 'script', ...ARGUMENT, position: 0, allow_dash: false }],
      __meta: { syntax: 'exec', template: 'bash -c ${script}' },
    })
  })

  test('shell: with :raw', () => {
    expect(load({ shell: 'docker run ${options:raw} ${image}' })).toMatchObject({
      command: ['sh', '-c', 'docker run $1 "$2"', '--'],
      parameters: [
        { name: 'options', ...ARGUMENT, position: 0, allow_dash: true },
        { name: 'image', ...ARGUMENT, position: 1, allow_dash: false },
      ],
    })
  })

  test('stdin: beside exec:', () => {
    expect(load({ exec: 'tee ${filename}', stdin: 'content' })).toMatchObject({
      command: ['tee'],
      parameters: [
        { name: 'filename', ...ARGUMENT, position: 0 },
        { name: 'content', type: 'string', inject_as: 'stdin', required: true },
      ],
      __meta: { syntax: 'exec', template: 'tee ${filename}', stdin: 'content' },
    })
  })

  test('parameters: adds descriptions and defaults', () => {
    const parameters = [
      { name: 'file', description: 'File to search in', default: './data.txt' },
      { name: 'pattern', description: 'Search pattern (regex supported)' },
    ]
    expect(load({ exec: 'grep ${pattern} ${file}', parameters }).parameters).toEqual([
      {
        name: 'pattern',
        ...ARGUMENT,
        position: 0,
        allow_dash: false,
        description: 'Search pattern (regex supported)',
      },
      {
        name: 'file',
        ...ARGUMENT,
        position: 1,
        allow_dash: false,
        description: 'File to search in',
        default: './data.txt',
        required: false,
      },
    ])
  })
})

describe('the mistakes the specification warns of', () => {
  const MISTAKES: [definition: object, words: string][] = [
    [{ exec: 'echo ${msg}', shell: 'cat ${file}' }, 'exec:, shell:, and command: are mutually exclusive'],
    [
      { shell: 'cat ${file} | wc -l', parameters: [{ name: 'file', inject_as: 'stdin' }] },
      "Cannot override inject_as for parameter 'file' (inferred: argument, explicit: stdin)",
    ],
    [
      { exec: 'echo ${message}', parameters: [{ name: 'unknown_param', description: 'x' }] },
      "Parameter 'unknown_param' not found in template",
    ],
    [
      { shell: 'docker run ${flags} ${image}', parameters: [{ name: 'flags', raw: true }] },
      ':raw modifier must be specified in template syntax (${flags:raw})',
    ],
    [
      { exec: 'echo ${a}', parameters: [{ name: 'a', position: 1 }] },
      "Cannot override position for parameter 'a' (inferred: 0, explicit: 1)",
    ],
    [{}, 'Tool must specify exactly one of: exec, shell, or command'],
    [
      { command: ['tee', '${content}'], substitute: true, stdin: 'content' },
      'Only one parameter can go to stdin, and to no other place',
    ],
    [
      { command: ['x'], stdin: 'a', parameters: [{ name: 'b', inject_as: 'stdin' }] },
      'Only one parameter can go to stdin, and to no other place',
    ],
    [{ exec: 'x ${a}', parameters: [{ name: 'a' }, { name: 'a' }] }, "Parameter 'a' is defined twice"],
    [
      { command: ['x'], parameters: [{ name: 'CWD' }] },
      'parameters[0].name must not be AGENT_HOME, CWD or TOOL_HOME',
    ],
    [
      { command: ['x'], stdin: 'a', parameters: [{ name: 'a', inject_as: 'argument' }] },
      "Cannot override inject_as for parameter 'a' (inferred: stdin, explicit: argument)",
    ],
  ]
  for (const [definition, words] of MISTAKES) {
    test(JSON.stringify(definition), () => expect(refusal(definition)).toContain(words))
  }

  test('agreeing with the template is not a mistake', () => {
    const parameters = [{ name: 'a', inject_as: 'argument', position: 0, raw: true }]
    expect(load({ shell: 'x ${a:raw}', parameters }).parameters[0]).toEqual({
      name: 'a',
      ...ARGUMENT,
      position: 0,
      allow_dash: true,
    })
  })
})

describe('a template whose placeholders are not all at its end keeps them in place', () => {
  const CASES: [exec: string, command: string[], args: Record<string, string>, argv: string[]][] = [
    ['cp ${src} backup/', ['cp', '${src}', 'backup/'], { src: 'a b' }, ['cp', 'a b', 'backup/']],
    ['x --name=${v}', ['x', '--name=${v}'], { v: 'a b' }, ['x', '--name=a b']],
    ['x ${a} ${a}', ['x', '${a}', '${a}'], { a: '1' }, ['x', '1', '1']],
    [
      '"${AGENT_HOME}/x.sh" ${b}${a} ${CWD}',
      ['${AGENT_HOME}/x.sh', '${b}${a}', '${CWD}'],
      { a: '1', b: '2' },
      ['/agent home/x.sh', '21', '/work'],
    ],
    ["echo '\\${lit}' \\\\${a}", ['echo', '\\${lit}', '\\\\${a}'], { a: '1' }, ['echo', '${lit}', '\\1']],
  ]
  for (const [exec, command, args, argv] of CASES) {
    test(exec, () => {
      expect(load({ exec })).toMatchObject({ command, substitute: true })
      expect(argvOf({ exec }, args)).toEqual(argv)
    })
  }

  test("the engine's variables alone do not need that", () => {
    expect(load({ exec: '${AGENT_HOME}/x.sh ${CWD} ${a}' })).toMatchObject({
      command: ['${AGENT_HOME}/x.sh', '${CWD}'],
    })
    expect(load({ exec: '${AGENT_HOME}/x.sh ${a}' })).not.toHaveProperty('substitute')
  })
})

describe('a hand-written command:', () => {
  test('appends its parameters by position, then in order', () => {
    const parameters = [{ name: 'c' }, { name: 'b', position: 1 }, { name: 'a', position: 0 }, { name: 'd' }]
    expect(argvOf({ command: ['x', '-y'], parameters }, { a: '1', b: '2', c: '3', d: '4' })).toEqual([
      'x',
      '-y',
      '1',
      '2',
      '3',
      '4',
    ])
  })

  test("replaces the engine's variables and nothing else", () => {
    const command = ['${AGENT_HOME}/x', '${HOME}', '$CWD', 'a${CWD}b', '\\${CWD}']
    expect(argvOf({ command }, {})).toEqual(['/agent home/x', '${HOME}', '$CWD', 'a/workb', '\\/work'])
  })

  test('drops an optional argument, and passes one that begins with a dash', () => {
    const parameters = [{ name: 'a', required: false }, { name: 'b' }]
    expect(argvOf({ command: ['x'], parameters }, { b: '-y' })).toEqual(['x', '-y'])
  })

  test('feeds stdin, by the parameter or by the keyword', () => {
    const parameters = [{ name: 'content', inject_as: 'stdin' }]
    for (const definition of [
      { command: ['tee'], parameters },
      { command: ['tee'], stdin: 'content' },
    ]) {
      expect(bind(definition, { content: 'c' })).toEqual({ ok: true, argv: ['tee'], stdin: 'c' })
    }
  })

  test('an option without a name of its own is shown with the inferred one', () => {
    const parameters = [{ name: 'depth', inject_as: 'option' }]
    expect(argvOf({ command: ['x'], parameters }, { depth: 2 })).toEqual(['x', '--depth', '2'])
    expect(load({ command: ['x'], parameters }).parameters).toEqual([
      { name: 'depth', type: 'string', inject_as: 'option', option_name: '--depth', required: true },
    ])
  })

  test('with substitute: true its elements hold placeholders', () => {
    const definition = { command: ['x', '--a=${a}', '\\${b}', '${c}'], substitute: true }
    expect(argvOf(definition, { a: '1', c: '3' })).toEqual(['x', '--a=1', '${b}', '3'])
    expect(refusal({ command: ['x', '${a:raw}'], substitute: true })).toContain(
      ':raw modifier is only allowed in shell:',
    )
    expect(refusal({ command: ['x', '${a-b}'], substitute: true })).toContain('\\${ for a literal ${.')
    expect(refusal({ command: ['sh', '-c', 'x ${a}'], substitute: true })).toContain(
      'In a program that sh runs the value would become code.',
    )
    expect(refusal({ command: ['', 'a'] })).toContain('The command is empty.')
    expect(refusal({ command: ['${a}'], substitute: true })).toContain('The first word must be literal')
    expect(refusal({ command: ['x'], substitute: true, parameters: [{ name: 'a' }] })).toContain(
      "Parameter 'a' not found",
    )
  })
})

describe('an expanded tool loads again and behaves the same', () => {
  const TOOLS: [definition: object, args: Record<string, unknown>][] = [
    [{ exec: 'ls -F ${directory}', description: 'List' }, { directory: 'a' }],
    [{ exec: 'cp ${a} x${b} \\${c} "d e"' }, { a: '1', b: '-2' }],
    [
      { exec: 'x ${files}', parameters: [{ name: 'files', type: 'array', required: false }] },
      { files: ['a', 'b'] },
    ],
    [{ shell: 'grep ${a:raw} "${b}.txt" $HOME ${v:-x} ${CWD} <<E\n\\${c}\nE' }, { a: '-i x', b: 'f' }],
    [
      { shell: 'x "${a}${b}" -- ${c}', parameters: [{ name: 'a', required: false }] },
      { b: 'b', c: '-c' },
    ],
    [
      { exec: 'tee ${f}', stdin: 'c', parameters: [{ name: 'c', description: 'd' }] },
      { f: 'f', c: 'c' },
    ],
    [
      { command: ['x', '${CWD}'], parameters: [{ name: 'a', inject_as: 'option', option_name: '-a' }] },
      { a: 1 },
    ],
    [{ command: ['x', '${a}'], substitute: true, allow_dash: true }, { a: '-x' }],
    [
      { exec: 'x ${a}', parameters: [{ name: 'a', enum: ['-1x'], pattern: '.*', 'x-note': 'kept' }] },
      { a: '-1x' },
    ],
    [
      {
        shell: 'x ${a} ${b}',
        stdin: 'c',
        parameters: [
          { 'x-note': 1, required: false, description: 'a: "b"\n\n# c ', name: 'b' },
          { pattern: '^[a-z"\'\\\\\\d]{1,}\\n?$', default: 'a', name: 'a' },
          { name: 'c', description: 'd', default: '\n x\n' },
        ],
      },
      { b: 'b' },
    ],
  ]
  for (const [definition, args] of TOOLS) {
    test(JSON.stringify(definition), () => {
      const tool = load(definition)
      const again = load(parse(stringify(tool)) as object)
      expect(stringify(again)).toBe(stringify(tool))
      expect(bind(again, args)).toEqual(bind(definition, args))
      expect(bind(again, args).ok).toBe(true)
    })
  }
})

test('metadata of the author, under metadata: and keys that begin with x-, survives expansion as it was written', () => {
  const own = { metadata: { unit: null }, 'x-label': { en: null, kinds: ['a', null] }, 'x-none': null }
  const tool = load({ exec: 'ls -- ${a}', parameters: [{ name: 'a', ...own }] })
  expect(tool.parameters[0]).toMatchObject(own)
  expect(load(parse(stringify(tool)) as object)).toEqual(tool)
})

describe('stdin: a wins over a placeholder of that name, whose place stays empty', () => {
  test('as a word of exec: it is dropped', () => {
    expect(load({ exec: 'tee ${content} -a ${file}', stdin: 'content' })).toMatchObject({
      command: ['tee', '-a'],
      parameters: [
        { name: 'file', inject_as: 'argument', position: 0 },
        { name: 'content', inject_as: 'stdin' },
      ],
    })
    expect(bind({ exec: 'tee ${content}', stdin: 'content' }, { content: '-x' })).toEqual({
      ok: true,
      argv: ['tee'],
      stdin: '-x',
    })
  })

  test('inside a word and in a script nothing stands for it', async () => {
    expect(argvOf({ exec: 'x a${p}b "${p}${q}"', stdin: 'p' }, { p: 'P', q: 'Q' })).toEqual(['x', 'ab', 'Q'])
    for (const shell of [
      'printf "<%s>" "${p}" ${p}.x ${q}; cat',
      'printf "<%s>" "${p}" ${p}.x "${q}"; cat',
    ]) {
      const tool = { shell, stdin: 'p' }
      expect((await call(tool, { p: '-in', q: 'Q' })).stdout).toBe('<><.x><Q>-in')
      const again = load(parse(stringify(load(tool))) as object)
      expect(bind(again, { p: '-in', q: 'Q' })).toEqual(bind(tool, { p: '-in', q: 'Q' }))
    }
  })
})

describe('safeParseTool', () => {
  test('hands on the keys it does not know', () => {
    const parsed = safeParseTool({ name: 'x', exec: 'ls', timeout_ms: 5, 'x-mine': [1] })
    expect(parsed).toMatchObject({ ok: true, rest: { timeout_ms: 5, 'x-mine': [1] } })
  })

  test('takes an empty YAML key for absent', () => {
    expect(load(parse('name: t\ndescription:\nexec: ls\nparameters:\n'))).not.toHaveProperty('description')
  })

  const SHAPES: [input: unknown, path: string, message: string][] = [
    [null, '', 'A tool must be a mapping'],
    ['ls', '', 'A tool must be a mapping'],
    [{ exec: 'ls' }, 'name', 'name is missing'],
    [{ name: 5, exec: 'ls' }, 'name', 'name must be a string'],
    [{ name: 'a b', exec: 'ls' }, 'name', 'name must be 1 to 64 letters, digits, _ or -'],
    [{ name: 'ask_human', exec: 'ls' }, 'name', 'name is reserved by the engine'],
    [{ name: 't', exec: ['ls'] }, 'exec', 'exec must be a string'],
    [{ name: 't', command: 'ls' }, 'command', 'command must be a list'],
    [{ name: 't', command: [] }, 'command', 'command must not be empty'],
    [{ name: 't', command: ['sleep', 5] }, 'command[1]', 'command[1] must be a string'],
    [{ name: 't', exec: 'ls', stdin: 'a b' }, 'stdin', 'stdin must be letters, digits and _, no digit first'],
    [{ name: 't', exec: 'ls', parameters: {} }, 'parameters', 'parameters must be a list'],
    [{ name: 't', exec: 'ls', parameters: ['a'] }, 'parameters[0]', 'parameters[0] must be a mapping'],
    [{ name: 't', exec: 'ls', parameters: [{}] }, 'parameters[0].name', 'parameters[0].name is missing'],
    [
      { name: 't', exec: 'ls', parameters: [{ name: 'a', enum: [true] }] },
      'parameters[0].enum[0]',
      'parameters[0].enum[0] must be a string or a number',
    ],
  ]
  for (const [input, path, message] of SHAPES) {
    test(`refuses ${JSON.stringify(input)}`, () => {
      expect(safeParseTool(input)).toMatchObject({ ok: false, problems: [{ path, message }] })
    })
  }

  test('reports every problem of a tool at once', () => {
    const parsed = safeParseTool({
      name: 'a b',
      exec: 5,
      parameters: [{ name: '1' }, { name: 'b', type: 'x' }],
    })
    expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path)).toEqual([
      'name',
      'exec',
      'parameters[0].name',
      'parameters[1].type',
    ])
  })
})

test('a key that the template decides is to be removed; only for standard input there is another', () => {
  const hint = (key: object) =>
    refusal({ shell: 'ls ${a}', parameters: [{ name: 'a', ...key }] })
      .split('\n')
      .at(-1)
  expect(hint({ raw: true })).toBe('Remove it, or for an input write stdin: name.')
  expect(hint({ inject_as: 'stdin' })).toBe('Remove it, or for an input write stdin: name.')
})

test('expandTool throws what safeParseTool would have reported, as one readable error', () => {
  try {
    expandTool({ name: 'count', exec: 'cat ${file} | wc -l' })
    expect.unreachable()
  } catch (error) {
    if (!isToolExpansionError(error)) throw error
    expect(error.code).toBe('ERR_EXEC_METACHARACTER')
    expect(error.problems).toMatchObject([{ path: 'exec', line: 1, column: 13 }])
    expect(error.message.split('\n')[0]).toBe(
      `tool "count": Shell metacharacter '|' not allowed in exec: mode. Use shell: mode or remove pipe.`,
    )
  }
})

test('a key called __proto__ gives a tool nothing', () => {
  const written = JSON.parse('{"name": "t", "__proto__": {"exec": "ls"}}') as object
  expect(safeParseTool(written)).toMatchObject({ ok: false, problems: [{ code: 'ERR_TOOL_MODE' }] })
})
