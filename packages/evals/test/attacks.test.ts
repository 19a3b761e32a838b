import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { results } from '@delta/evals'
import { describe, expect, test } from 'vitest'
import { below, evaluationIn, scriptedAgent } from './evaluation.js'

const CHECK = { 'check.sh': 'test "$(cat answer)" = ok\n' }

/** The result of a cell whose agent attacks; it did not do its task. */
async function attacked(
  command: string,
  score: object = { command: 'sh check.sh' },
  path = process.env.PATH,
) {
  const { plan, work, directory, env } = await evaluationIn({
    'eval.yaml': JSON.stringify({ tasks: 'tasks/', variants: { a: { agent: './a' } }, score }),
    ...below('a', scriptedAgent(command)),
    'tasks/one/instruction.md': 'Do it.\n',
    'tasks/one/workspace/answer': 'given\n',
    ...below('tasks/one/tests', CHECK),
    'score.sh': 'sh check.sh\n',
  })
  await plan()
  await work({ env: { ...env, PATH: path } })
  const [found] = results(directory)
  const cell = join(directory, 'cells', found?.cell.cell ?? '')
  return { ...found?.result, cell, directory }
}

describe('no attack of an agent changes its score, without a sandbox', () => {
  test.each([
    [
      'scores that are there before the scorer',
      'echo 1 > score; echo 1 > reward.txt; mkdir -p about; echo 1 > about/score',
      { command: 'sh check.sh > /dev/null; true', result: 'file' },
      'unscored-infra',
    ],
    [
      'a program in the directory where the scorer works, of a person with . in PATH',
      `printf '#!/bin/sh\\nexit 0\\n' | tee sh test cat; chmod +x sh test cat`,
      { command: 'sh check.sh' },
      'scored',
    ],
    [
      'files that other programs read by themselves, which are not taken',
      `for name in conftest.py sitecustomize.py usercustomize.py unittest.py x.pth pytest.ini .bashrc .profile .env .npmrc; do echo 'import os; os._exit(0)' > $name; done
       mkdir -p .git/hooks; echo 'exit 0' > .git/hooks/pre-commit; mkdir answer.d; ln -s conftest.py linked.py`,
      {
        take: ['answer'],
        command: 'test "$(ls -A | tr "\\n" " ")" = "answer check.sh " && sh check.sh',
      },
      'scored',
    ],
    [
      'variables that other programs read by themselves',
      'true',
      { command: 'test -z "$NODE_OPTIONS$BASH_ENV$PYTHONPATH$LD_PRELOAD" && sh check.sh' },
      'scored',
    ],
    [
      'files that cannot be copied',
      `mkdir no; echo x > no/x; chmod 0 no; mkfifo pipe; touch "$(printf 'latin-\\351')"; ln -s loop loop
       deep=$(pwd); while test \${#deep} -lt 3880; do deep=$deep/$(printf 'd%.0s' $(seq 200)); done; mkdir -p $deep/$(printf 'e%.0s' $(seq $((4080 - \${#deep}))))`,
      { command: 'test ! -e pipe && sh check.sh' },
      'scored',
    ],
  ])('%s', async (_, command, score, state) => {
    const result = await attacked(command, score, `.:${process.env.PATH}`)
    expect([result.state, result.score]).toEqual([state, state === 'scored' ? 0 : null])
  })

  test('a process without its environment that writes once the copy is there', async () => {
    const wait = 'until ls ../../scores/.*/about/answer; do sleep 0.02; done; echo ok > answer; touch ../done'
    const leave = `env -i PATH="$PATH" setsid sh -c '${wait}' > /dev/null 2>&1 < /dev/null &`
    const { score, cell } = await attacked(leave, {
      command: 'until test -e "$DELTA_CELL/1/done"; do sleep 0.02; done; sh check.sh',
    })
    expect(score).toBe(0)
    expect(existsSync(join(cell, '1/done'))).toBe(true)
  })
})

describe('what an agent must not touch makes its cell invalid', () => {
  const JOURNAL = '"$DELTA_CELL"/1/runs/*-1/journal.jsonl'
  const INPUTS = '"$DELTA_CELL"/../../inputs'

  test.each([
    ['a line of its journal', `sed -i 's/Do it/No it/' ${JOURNAL}`, 'journal'],
    ['its journal, in place', `printf X | dd of=$(echo ${JOURNAL}) conv=notrunc`, 'journal'],
    ['its journal, which it cuts', `head -n 2 ${JOURNAL} > short; cat short > $(echo ${JOURNAL})`, 'journal'],
    ['its journal, which it removes', `rm ${JOURNAL}`, 'journal'],
    ['its journal, to which it adds', `echo more >> $(echo ${JOURNAL})`, 'journal'],
    [
      'its journal, after its end',
      `env -i PATH="$PATH" setsid sh -c 'cd ../runs/*-1; until grep -q ENGINE_END journal.jsonl; do :; done; sed -i s/Do.it/No.it/ journal.jsonl' > /dev/null 2>&1 < /dev/null &`,
      'journal',
    ],
    ['the records of its run', 'rm -rf ../runs/*-1/io', 'journal'],
    ['its run', 'rm -rf ../runs', 'journal'],
    ['all of its attempt', 'cd /; rm -rf "$DELTA_CELL/1"', 'journal'],
    ['the hidden tests', `chmod -R u+w ${INPUTS}; echo exit 0 | tee ${INPUTS}/*/tests/check.sh`, 'inputs'],
    ['the files of the scorer', `chmod -R u+w ${INPUTS}; echo exit 0 | tee ${INPUTS}/*/score.sh`, 'inputs'],
    ['itself', 'chmod -R u+w "$AGENT_HOME"; echo "# more" >> "$AGENT_HOME/context.yaml"', 'inputs'],
    ['itself, by a file more', 'chmod u+w "$AGENT_HOME"; touch "$AGENT_HOME/.env"', 'inputs'],
    ['a result that is not JSON', 'echo 1 > "$DELTA_CELL/result.json"', 'result'],
    ['a link in the place of its result', 'ln -s /dev/null "$DELTA_CELL/result.json"', 'result'],
    ['a directory in the place of its result', 'mkdir "$DELTA_CELL/result.json"', 'result'],
  ])('%s', async (_, command, reason) => {
    const score = { files: ['score.sh'], command: 'sh "$INPUTS/score.sh"' }
    const { state, reason: found, detail } = await attacked(command, score)
    expect({ state, found, detail }).toMatchObject({ state: 'invalid', found: reason })
  })
})
