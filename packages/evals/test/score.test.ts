import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { results } from '@delta/evals'
import { runProcess } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { below, evaluationIn, scriptedAgent } from './evaluation.js'

/** The result of one cell: what an agent's command leaves, judged by a scorer. */
async function resultOf(
  command: string,
  score: object,
  tests: Record<string, string> = {},
  more: object = {},
) {
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': JSON.stringify({ tasks: 'tasks/', variants: { a: { agent: './a' } }, score, ...more }),
    ...below('a', scriptedAgent(command)),
    'tasks/one/instruction.md': 'Do it.\n',
    'tasks/one/workspace/given': 'given\n',
    ...below('tasks/one/tests', tests),
  })
  await plan()
  await work()
  const [found] = results(directory)
  const cell = join(directory, 'cells', found?.cell.cell ?? '')
  return { ...found?.result, cell, place: directory }
}

describe('what a scorer says', () => {
  test.each([
    ['exit 0 is 1', { command: 'true' }, 'scored 1'],
    ['exit 1 is 0', { command: 'exit 1' }, 'scored 0'],
    [
      'any other exit code is the fault of the scorer',
      { command: 'exit 3' },
      "unscored-infra null scorer exit 3 (fail: [1, 3] if that is the agent's fault)",
    ],
    ['pass and fail say otherwise', { command: 'exit 3', pass: [3], fail: [4] }, 'scored 1'],
    ['a number on stdout', { command: 'echo words; echo 0.25', result: 'stdout' }, 'scored 0.25'],
    ['JSON on stdout', { command: `echo '{"score": 2, "lines": 7}'`, result: 'stdout' }, 'scored 2'],
    [
      'null is nothing to score',
      { command: 'echo null', result: 'stdout' },
      'unscored-agent null there is nothing to score',
    ],
    [
      'a negative score is none',
      { command: 'echo -1', result: 'stdout' },
      'unscored-infra null scorer: "-1" is not a score',
    ],
    [
      'words are no score',
      { command: 'echo fine', result: 'stdout' },
      'unscored-infra null scorer: "fine" is not a score',
    ],
    ['a file', { command: 'echo 0.5 > "$SCORE_FILE"', result: 'file' }, 'scored 0.5'],
    ['no file', { command: 'true', result: 'file' }, 'unscored-infra null scorer: "" is not a score'],
    [
      'a signal, three times',
      { command: 'kill -9 $$' },
      'unscored-infra null scorer was ended by a signal 3 times',
    ],
    [
      'a timeout',
      { command: 'sleep 60', timeout: '0.2s' },
      "unscored-infra null scorer timed out (on_timeout: 0 if that is the agent's fault)",
    ],
    [
      'a timeout that is the fault of the agent',
      { command: 'sleep 60', timeout: '0.2s', on_timeout: 0 },
      'scored 0',
    ],
    [
      'a program that is missing',
      { command: ['no-such-program'] },
      /unscored-infra null scorer did not start/,
    ],
    ['the answer', { equals: 'Done.' }, 'scored 1'],
    ['another answer', { equals: 'done' }, 'scored 0'],
    ['a pattern of the answer', { matches: '^D.ne' }, 'scored 1'],
    ['a file of the agent', { file: 'made', equals: { tests: 'wanted' } }, 'scored 1'],
    ['a file that the agent did not make', { file: 'missing', equals: 'x' }, 'scored 0'],
  ])('%s', async (_, score, wanted) => {
    const { state, score: value, detail } = await resultOf('echo made > made', score, { wanted: 'made\n' })
    expect(`${state} ${value} ${detail}`.trimEnd()).toMatch(wanted)
  })

  test('other numbers are metrics, and each scorer has its own', async () => {
    const { scores } = await resultOf('true', {
      first: { command: `echo '{"score": 1, "lines": 7, "name": "x"}'`, result: 'stdout' },
      second: { command: 'exit 1' },
    })
    expect(scores).toEqual({
      first: { score: 1, metrics: { lines: 7 } },
      second: { score: 0, metrics: {} },
    })
  })

  test('its environment is cleared, and says where everything is', async () => {
    const { cell } = await resultOf('true', {
      command: 'env | cut -d= -f1 | sort; cat "$TASK/instruction.md"; ls "$RUN_DIR"; cat "$ANSWER"',
    })
    expect(
      readFileSync(join(cell, 'scores/score-1/stdout'), 'utf8')
        .split('\n')
        .filter((name) => name !== '_' && name !== 'PWD'),
    ).toEqual([
      ...[
        'ANSWER',
        'COPY',
        'DELTA_CELL',
        'DELTA_SEED',
        'HOME',
        'INPUTS',
        'LANG',
        'PATH',
        'RUN_DIR',
        'SCORE_FILE',
        'SOLUTION',
        'TASK',
        'TESTS',
        'TMPDIR',
      ],
      'Do it.journal.jsonl',
      'Done.',
    ])
  })
})

describe('what an agent cannot do to its score, without a sandbox', () => {
  const CHECK = { 'check.sh': 'test "$(cat answer)" = ok\n' }

  test('write its own tests', async () => {
    const { score } = await resultOf('echo exit 0 > check.sh', { command: 'sh check.sh' }, CHECK)
    expect(score).toBe(0)
  })

  test('put a directory or a link in the place of a test', async () => {
    const check = { 'sub/check.sh': CHECK['check.sh'] }
    const run = { command: 'sh sub/check.sh' }
    expect((await resultOf('mkdir -p sub/check.sh', run, check)).score).toBe(0)
    expect(
      (await resultOf('mkdir other; echo exit 0 > other/check.sh; ln -s other sub', run, check)).score,
    ).toBe(0)
  })

  test('put a program first in PATH', async () => {
    const { score } = await resultOf(
      `printf '#!/bin/sh\\nexit 0\\n' > sh; cp sh test; chmod +x sh test`,
      { command: 'sh check.sh' },
      CHECK,
      {},
    )
    expect(score).toBe(0)
  })

  test('get other files than those taken into the copy', async () => {
    const score = {
      take: ['*.txt'],
      command: 'ls -A > "$SCORE_FILE.names"; test "$(ls -A | tr "\\n" " ")" = "answer.txt given "',
    }
    const result = await resultOf(
      'echo a > answer.txt; echo x > conftest.py; ln -s answer.txt link.txt; mkdir .delta; echo x > .delta/y.txt',
      score,
    )
    expect(result.score).toBe(1)
  })

  test('let a link lead out of the copy', async () => {
    const { score } = await resultOf('ln -s /etc/passwd stolen; ln -s ../../.. up; ln -s given near', {
      command: 'test -L near && ! test -e stolen -o -L stolen -o -L up',
    })
    expect(score).toBe(1)
  })

  test('rewrite files by a process that it leaves behind', async () => {
    const wait = 'until ls ../../scores/.*/about/answer; do sleep 0.02; done'
    const leave = `setsid sh -c '${wait}; echo ok > answer' > /dev/null 2>&1 < /dev/null & echo started`
    const { score, cell } = await resultOf(leave, { command: 'sleep 0.6; sh check.sh' }, CHECK)
    expect(score).toBe(0)
    expect(existsSync(join(cell, '1/workspace/answer'))).toBe(false)
  })

  test('replace its workspace', async () => {
    const { state, reason } = await resultOf('cd ..; mv workspace old; ln -s old workspace', {
      command: 'true',
    })
    expect({ state, reason }).toEqual({ state: 'invalid', reason: 'workspace' })
  })

  test('forge a result', async () => {
    const { state, reason, cell } = await resultOf(
      `echo '{"state":"scored","score":1,"cell":"x"}' > "$DELTA_CELL/result.json"`,
      { command: 'exit 1' },
    )
    expect({ state, reason }).toEqual({ state: 'invalid', reason: 'result' })
    expect(readdirSync(join(cell, 'results'))).toEqual(['1.json'])
  })

  test('leave a file that no disk could hold', async () => {
    const { state, reason } = await resultOf('truncate -s 10G sparse', { command: 'true' })
    expect({ state, reason }).toEqual({ state: 'invalid', reason: 'copy' })
  })

  test('find the repository in which the evaluation lies', async () => {
    const { plan, work, directory, place, env } = await evaluationIn({
      'eval.yaml': 'tasks: tasks/\nvariants: { a: { agent: ./a } }\nscore: { command: "true" }\n',
      ...below('a', scriptedAgent('git reset --hard > said 2>&1; true')),
      'tasks/one/instruction.md': 'Do it.\n',
    })
    await runProcess(['git', 'init', '-q', place.path], { env })
    await plan()
    await work()
    const [found] = results(directory)
    const said = readFileSync(join(directory, 'cells', found?.cell.cell ?? '', '1/workspace/said'), 'utf8')
    expect(said).toMatch(/not a git repository/)
  })
})
