import { join } from 'node:path'
import { planEval, readEval, type WorkOptions, work } from '@delta/evals'
import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'

/** An agent whose model is a script and which runs one command. */
export function scriptedAgent(command: string): Record<string, string> {
  return {
    'agent.yaml': `name: scripted
llm: { provider: script, script: script.yaml }
system_prompt: system_prompt.md
tools:
  - name: act
    description: Acts.
    on_interrupt: rerun
    shell: ${JSON.stringify(command)}
`,
    'script.yaml': '- tool_calls: [{ name: act }]\n- content: Done.\n',
    'system_prompt.md': 'Solve the task.\n',
    'context.yaml': `sources:
  - { type: file, id: system_prompt, path: "\${AGENT_HOME}/system_prompt.md" }
  - { type: journal, id: history }
`,
  }
}

/** Files below a directory. */
export function below(directory: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${directory}/${name}`, text]))
}

/** A task that is solved by the text `ok` in the file `answer`. */
export function easyTask(id: string): Record<string, string> {
  return below(`tasks/${id}`, {
    'instruction.md': `Write ok into the file answer. This is ${id}.\n`,
    'workspace/hint': 'ok\n',
    'tests/check.sh': 'test "$(cat answer)" = ok\n',
    'solution/solve.sh': 'echo ok > answer\n',
  })
}

/** An evaluation in a temporary directory. */
export async function evaluationIn(files: Readonly<Record<string, string>>): Promise<{
  place: TemporaryWorkspace
  directory: string
  env: NodeJS.ProcessEnv
  plan: () => ReturnType<typeof planEval>
  work: (options?: WorkOptions) => ReturnType<typeof work>
}> {
  const place = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const directory = join(place.path, 'x.eval')
  const env = { PATH: process.env.PATH, HOME: place.path, DELTA_STATE_DIR: join(place.path, '.state') }
  return {
    place,
    directory,
    env,
    plan: async () =>
      planEval(await readEval(join(place.path, 'eval.yaml'), { shownAs: 'eval.yaml' }), directory, { env }),
    work: (options) => work(directory, { env, sync: false, ...options }),
  }
}
