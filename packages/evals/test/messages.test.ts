import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

/** What planning says of an eval.yaml. */
async function saidOf(text: string): Promise<string> {
  const { plan } = await evaluationIn({
    'eval.yaml': text,
    ...below('a', scriptedAgent('true')),
    ...below('b', scriptedAgent('true')),
    ...easyTask('hello'),
  })
  return plan().then(
    () => 'planned',
    ({ message }: Error) => message,
  )
}

const END = 'score: { command: sh check.sh }\n'

test('mistakes in eval.yaml are told with their line, a caret and the way out', async () => {
  expect(await saidOf(`tasks: tasks/\nvariants:\n  a: { agent: ./fixr }\n${END}`)).toMatchInlineSnapshot(`
    "eval.yaml:3:15: variants.a.agent: no agent.yaml in ./fixr.
      a: { agent: ./fixr }
                  ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nlimits: { iterations: 9 }\n${END}`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:23: limits.iterations: iterations belong to a variant: set: { max_iterations: 9 }.
      limits: { iterations: 9 }
                            ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nrepeat: 5\n${END}`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:1: unknown key "repeat".
      repeat: 5
      ^
    Did you mean "repeats"?"
  `)
  expect(await saidOf(`tasks: nothing/\nvariants: { a: { agent: ./a } }\n${END}`)).toMatchInlineSnapshot(`
    "eval.yaml:1:8: tasks: no directory with an instruction.md in nothing/.
      tasks: nothing/
             ^"
  `)
  expect(await saidOf(`tasks: a\nvariants: { a: { agent: ./a } }\n${END}`)).toMatchInlineSnapshot(`
    "eval.yaml:1:8: tasks: no directory with an instruction.md in a.
      tasks: a
             ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nprovider_wait: soon\n${END}`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:16: provider_wait: must be a time like 90s, 30m or 1h, got "soon".
      provider_wait: soon
                     ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nsandbox: bwrap\n${END}`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:10: sandbox: only none for now.
      sandbox: bwrap
               ^"
  `)
  expect(await saidOf('tasks: tasks/\nvariants: { a: { agent: ./a } }\n')).toMatchInlineSnapshot(`
    "eval.yaml:1:1: tasks/hello: nothing to score it with.
      tasks: tasks/
      ^
    Give score: in eval.yaml."
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a }, b: { agent: ./b } }\n${END}`),
  ).toMatchInlineSnapshot(
    `"eval.yaml: variants a and b are the same agent, model and settings. For more samples raise repeats."`,
  )
  expect(
    await saidOf(
      `tasks: [tasks/, { id: hello, instruction: Again. }]\nvariants: { a: { agent: ./a } }\n${END}`,
    ),
  ).toMatchInlineSnapshot(`
    "eval.yaml:1:17: tasks[1]: hello is defined twice (tasks/hello, eval.yaml).
      tasks: [tasks/, { id: hello, instruction: Again. }]
                      ^"
  `)
  expect(
    await saidOf(
      `tasks: [{ id: calc, instruction: Fix it., workspace: . }]\nvariants: { a: { agent: ./a } }\n${END}`,
    ),
  ).toMatchInlineSnapshot(`
    "eval.yaml:1:8: tasks: calc.workspace: . holds eval.yaml, so each edit of it would make every cell new. Put it beside.
      tasks: [{ id: calc, instruction: Fix it., workspace: . }]
             ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nscore: { take: ['*.py'] }\n`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:8: score: needs one of command, equals and matches.
      score: { take: ['*.py'] }
             ^"
  `)
  expect(
    await saidOf(`tasks: tasks/\nvariants: { a: { agent: ./a } }\nscore: { one: { comand: x } }\n`),
  ).toMatchInlineSnapshot(`
    "eval.yaml:3:15: score.one: needs one of command, equals and matches.
      score: { one: { comand: x } }
                    ^

    eval.yaml:3:17: score.one: unknown key "comand".
      score: { one: { comand: x } }
                      ^
    Did you mean "command"?

    2 problems."
  `)
})
