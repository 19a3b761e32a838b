import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { argvOf, call, refusal, run } from './helper.js'

// The nineteen tests of the tool syntax's own specification (v1.7, section 10), by their numbers.
// 3.3 and 5.1 expect what really happens: docs/decisions/0010-what-raw-opens.md.

let workspace: TemporaryWorkspace
let cwd: string
let marker: string

beforeEach(async () => {
  workspace = await temporaryWorkspace({ marker: 'still here' })
  cwd = workspace.path
  marker = `${cwd}/marker`
})

afterEach(() => workspace.remove())

describe('1: exec: prevents command injection', () => {
  test('1.1 a pipe in exec: is refused at load time', () => {
    expect(refusal({ exec: 'cat ${file} | wc -l' })).toBe(
      [
        "Shell metacharacter '|' not allowed in exec: mode. Use shell: mode or remove pipe.",
        '  exec: "cat ${file} | wc -l"',
        '                     ^',
        'In shell: parameters are passed safely quoted, too. Or write command: as an array.',
        "  shell: 'cat ${file} | wc -l'",
      ].join('\n'),
    )
  })

  test('1.2 a redirection in exec: is refused at load time', () => {
    expect(refusal({ exec: 'echo ${msg} > ${file}' })).toContain(
      "Shell metacharacter '>' not allowed in exec: mode.",
    )
  })

  test('1.3 a hostile value in exec: is printed, not run', async () => {
    const outcome = await call({ exec: 'echo ${message}' }, { message: `; rm -rf ${marker}` })
    expect(outcome).toEqual({ stdout: `; rm -rf ${marker}\n`, stderr: '', exitCode: 0 })
    expect(workspace.has('marker')).toBe(true)
  })
})

describe('2: shell: prevents command injection', () => {
  test('2.1 a semicolon in a value separates nothing', async () => {
    const input = `; rm -rf ${marker}; echo done`
    expect(await call({ shell: 'echo ${input}' }, { input })).toEqual({
      stdout: `${input}\n`,
      stderr: '',
      exitCode: 0,
    })
    expect(workspace.has('marker')).toBe(true)
  })

  test('2.2 quotes in a value are searched for as quotes', async () => {
    const tool = { shell: 'grep ${pattern} ${file}' }
    await workspace.write('with.txt', 'a "test" here\n')
    await workspace.write('without.txt', 'a test here\n')
    expect((await call(tool, { pattern: '"test"', file: 'with.txt' }, { cwd })).exitCode).toBe(0)
    expect((await call(tool, { pattern: '"test"', file: 'without.txt' }, { cwd })).exitCode).toBe(1)
  })

  test('2.3 a command substitution in a value stays text', async () => {
    expect((await call({ shell: 'echo ${input}' }, { input: '$(whoami)' })).stdout).toBe('$(whoami)\n')
  })

  test('2.4 a pipe in a value stays text', async () => {
    expect((await call({ shell: 'echo ${input}' }, { input: 'test | grep x' })).stdout).toBe(
      'test | grep x\n',
    )
  })
})

describe('3: :raw', () => {
  test('3.1 a raw value becomes several words', async () => {
    const tool = { shell: 'echo ${flags:raw}' }
    expect((await call(tool, { flags: '-n -e' })).stdout).not.toMatch(/\n$/)
    expect((await call(tool, { flags: '-e \\nhello' })).stdout).toContain('\nhello')
  })

  test('3.2 :raw in exec: is refused at load time', () => {
    expect(refusal({ exec: 'echo ${flags:raw}' })).toContain(':raw modifier is only allowed in shell: mode')
  })

  test('3.3 a raw value adds arguments, options and file names, but is never parsed as a command', async () => {
    const tool = { shell: 'printf "<%s>" ${input:raw}' }
    expect(argvOf(tool, { input: '' }).slice(0, 4)).toEqual(['sh', '-c', 'printf "<%s>" $1', '--'])

    const outcome = await call(tool, { input: `; rm -rf ${marker} mark*` }, { cwd })
    expect(outcome).toEqual({ stdout: `<;><rm><-rf><${marker}><marker>`, stderr: '', exitCode: 0 })
    expect(workspace.has('marker')).toBe(true)
  })
})

describe('4: exec: splits words', () => {
  test('4.1 quoted text in the template is one argument', async () => {
    await workspace.write('test.txt', 'x fixed pattern with y\nfixed other\n')
    const outcome = await call({ exec: 'grep "fixed pattern" ${file}' }, { file: 'test.txt' }, { cwd })
    expect(outcome.stdout).toBe('x fixed pattern with y\n')
  })

  test('4.2 each placeholder is an argument of its own', async () => {
    const tool = { exec: 'echo ${arg1} ${arg2} ${arg3}' }
    const values = { arg1: 'first', arg2: 'second', arg3: 'third' }
    expect(argvOf(tool, values)).toEqual(['echo', 'first', 'second', 'third'])
    expect((await call(tool, values)).stdout).toBe('first second third\n')
  })
})

describe('5: stdin:', () => {
  test('5.1 stdin: feeds an exec: tool byte for byte, so wc counts the newlines that are there', async () => {
    const tool = { exec: 'wc -l', stdin: 'content' }
    expect((await call(tool, { content: 'line1\nline2\nline3' })).stdout.trim()).toBe('2')
    expect((await call(tool, { content: 'line1\nline2\nline3\n' })).stdout.trim()).toBe('3')
    expect((await run(['cat'], { stdin: 'line1\nline2\nline3' })).stdout).toBe('line1\nline2\nline3')
  })

  test('5.2 stdin: feeds a shell: tool', async () => {
    const tool = { shell: 'grep ${pattern}', stdin: 'content' }
    expect((await call(tool, { pattern: 'test', content: 'test1\nfoo\ntest2' })).stdout).toBe(
      'test1\ntest2\n',
    )
  })
})

describe('6: scripts of several lines', () => {
  test('6.1 values stay values on every line', async () => {
    const tool = { shell: 'echo "Start"\necho ${value}\necho "End"\n' }
    expect((await call(tool, { value: 'test ; echo injected' })).stdout).toBe(
      'Start\ntest ; echo injected\nEnd\n',
    )
  })

  test('6.2 pipes go on across lines', async () => {
    const tool = { shell: "echo ${text} |\ntr '[:lower:]' '[:upper:]' |\nwc -c\n" }
    expect((await call(tool, { text: 'hello' })).stdout.trim()).toBe('6')
  })
})

describe('7: parameters:', () => {
  test('7.1 explicit parameters add a description and a default', async () => {
    const tool = {
      exec: 'echo ${msg}',
      parameters: [{ name: 'msg', description: 'Message to print', default: 'hello' }],
    }
    expect((await call(tool, {})).stdout).toBe('hello\n')
    expect((await call(tool, { msg: 'given' })).stdout).toBe('given\n')
  })

  test('7.2 explicit parameters cannot change how a value is injected', () => {
    const tool = { shell: 'grep ${pattern} ${file}', parameters: [{ name: 'pattern', inject_as: 'stdin' }] }
    expect(refusal(tool)).toContain(
      "Cannot override inject_as for parameter 'pattern' (inferred: argument, explicit: stdin)",
    )
  })

  test('7.3 explicit parameters must stand in the template', () => {
    const tool = { exec: 'echo ${msg}', parameters: [{ name: 'undefined_param', description: 'Not there' }] }
    expect(refusal(tool)).toContain("Parameter 'undefined_param' not found in template")
  })
})
