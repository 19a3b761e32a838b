import { describe, expect, test } from 'vitest'
import { callTool, refusalOf } from './call-tool.js'

// The nineteen tests of the tool syntax's own specification (v1.7, section 10), by their numbers, each through a whole
// run. 3.3 and 5.1 expect what really happens: docs/decisions/0010-what-raw-opens.md.

const MARKER = { marker: 'still here\n' }

describe('1: exec: prevents command injection', () => {
  test('1.1 a pipe in exec: is refused before anything runs', async () => {
    const message = await refusalOf({ exec: 'cat ${file} | wc -l' })
    expect(message).toContain("Shell metacharacter '|' not allowed in exec: mode.")
    expect(message).toContain('Use shell:')
  })

  test('1.2 a redirection in exec: is refused before anything runs', async () => {
    expect(await refusalOf({ exec: 'echo ${msg} > ${file}' })).toContain(
      "Shell metacharacter '>' not allowed in exec: mode.",
    )
  })

  test('1.3 a hostile value in exec: is printed, not run', async () => {
    await using called = await callTool({ exec: 'echo ${message}' }, { message: '; rm -rf marker' }, MARKER)
    expect(called.result).toMatchObject({ exit_code: 0, observation_content: '; rm -rf marker\n' })
    expect(called.workspace.has('marker')).toBe(true)
  })
})

describe('2: shell: prevents command injection', () => {
  test('2.1 a semicolon in a value separates nothing', async () => {
    const input = '; rm -rf marker; echo done'
    await using called = await callTool({ shell: 'echo ${input}' }, { input }, MARKER)
    expect(called.result).toMatchObject({ exit_code: 0, observation_content: `${input}\n` })
    expect(called.workspace.has('marker')).toBe(true)
  })

  test('2.2 quotes in a value are searched for as quotes', async () => {
    const tool = { shell: 'grep ${pattern} ${file}' }
    const args = { pattern: '"test"', file: 'sample.txt' }
    await using found = await callTool(tool, args, { 'sample.txt': 'a "test" here\n' })
    expect(found.result).toMatchObject({ status: 'SUCCESS', exit_code: 0 })
    await using missed = await callTool(tool, args, { 'sample.txt': 'a test here\n' })
    expect(missed.result).toMatchObject({ status: 'FAILED', exit_code: 1 })
  })

  test('2.3 a command substitution in a value stays text', async () => {
    await using called = await callTool({ shell: 'echo ${input}' }, { input: '$(whoami)' })
    expect(called.result.observation_content).toBe('$(whoami)\n')
  })

  test('2.4 a pipe in a value stays text', async () => {
    await using called = await callTool({ shell: 'echo ${input}' }, { input: 'test | grep x' })
    expect(called.result.observation_content).toBe('test | grep x\n')
  })
})

describe('3: :raw', () => {
  test('3.1 a raw value becomes several words', async () => {
    const tool = { shell: 'echo ${flags:raw}' }
    await using none = await callTool(tool, { flags: '-n' })
    expect(none.result.observation_content).toBe('')
    await using two = await callTool(tool, { flags: '-n one' })
    expect(two.result.observation_content).toBe('one')
    await using escaped = await callTool(tool, { flags: '-e \\nhello' })
    expect(escaped.result.observation_content).toContain('\nhello')
  })

  test('3.2 :raw in exec: is refused before anything runs', async () => {
    expect(await refusalOf({ exec: 'echo ${flags:raw}' })).toContain(
      ':raw modifier is only allowed in shell: mode',
    )
  })

  test('3.3 a raw value adds arguments, options and file names, but is never parsed as a command', async () => {
    const tool = { shell: 'printf "<%s>" ${input:raw}' }
    await using called = await callTool(tool, { input: '; rm -rf marker mark*' }, MARKER)
    expect(called.result).toMatchObject({
      exit_code: 0,
      observation_content: '<;><rm><-rf><marker><marker>',
    })
    expect(called.workspace.has('marker')).toBe(true)
  })
})

describe('4: exec: splits words', () => {
  test('4.1 quoted text in the template is one argument', async () => {
    const files = { 'test.txt': 'x fixed pattern with y\nfixed other\n' }
    await using called = await callTool({ exec: 'grep "fixed pattern" ${file}' }, { file: 'test.txt' }, files)
    expect(called.result.observation_content).toBe('x fixed pattern with y\n')
  })

  test('4.2 each placeholder is an argument of its own', async () => {
    const values = { arg1: 'first', arg2: 'second', arg3: 'third' }
    await using called = await callTool({ exec: 'echo ${arg1} ${arg2} ${arg3}' }, values)
    expect(called.request.argv).toEqual(['echo', 'first', 'second', 'third'])
    expect(called.result.observation_content).toBe('first second third\n')
  })
})

describe('5: stdin:', () => {
  test('5.1 stdin: feeds an exec: tool byte for byte, so wc counts the newlines that are there', async () => {
    const tool = { exec: 'wc -l', stdin: 'content' }
    await using without = await callTool(tool, { content: 'line1\nline2\nline3' })
    expect(without.result.observation_content.trim()).toBe('2')
    await using ended = await callTool(tool, { content: 'line1\nline2\nline3\n' })
    expect(ended.result.observation_content.trim()).toBe('3')
  })

  test('5.2 stdin: feeds a shell: tool', async () => {
    const args = { pattern: 'test', content: 'test1\nfoo\ntest2' }
    await using called = await callTool({ shell: 'grep ${pattern}', stdin: 'content' }, args)
    expect(called.result.observation_content).toBe('test1\ntest2\n')
  })
})

describe('6: scripts of several lines', () => {
  test('6.1 values stay values on every line', async () => {
    const tool = { shell: 'echo "Start"\necho ${value}\necho "End"\n' }
    await using called = await callTool(tool, { value: 'test ; echo injected' })
    expect(called.result.observation_content).toBe('Start\ntest ; echo injected\nEnd\n')
  })

  test('6.2 pipes go on across lines', async () => {
    const tool = { shell: "echo ${text} |\ntr '[:lower:]' '[:upper:]' |\nwc -c\n" }
    await using called = await callTool(tool, { text: 'hello' })
    expect(called.result.observation_content.trim()).toBe('6')
  })
})

describe('7: parameters:', () => {
  test('7.1 explicit parameters add a description and a default', async () => {
    const tool = {
      exec: 'echo ${msg}',
      parameters: [{ name: 'msg', description: 'Message to print', default: 'hello' }],
    }
    await using byDefault = await callTool(tool, {})
    expect(byDefault.result.observation_content).toBe('hello\n')
    await using given = await callTool(tool, { msg: 'given' })
    expect(given.result.observation_content).toBe('given\n')
  })

  test('7.2 explicit parameters cannot change how a value is injected', async () => {
    const parameters = [{ name: 'pattern', inject_as: 'stdin' }]
    expect(await refusalOf({ shell: 'grep ${pattern} ${file}', parameters })).toContain(
      "Cannot override inject_as for parameter 'pattern' (inferred: argument, explicit: stdin)",
    )
  })

  test('7.3 explicit parameters must stand in the template', async () => {
    const parameters = [{ name: 'undefined_param', description: 'Not there' }]
    expect(await refusalOf({ exec: 'echo ${msg}', parameters })).toContain(
      "Parameter 'undefined_param' not found in template",
    )
  })
})
