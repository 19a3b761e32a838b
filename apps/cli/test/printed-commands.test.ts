import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  runProcess,
  type TemporaryAgentOptions,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta } from './delta.js'
import { oldRun } from './older-runs.js'

/** Where somebody is: an agent in `agent/`, a workspace in `work/`, and what has happened there. */
interface Situation {
  agent?: TemporaryAgentOptions
  /** What happened before, in the current directory. */
  before?: (place: Place) => Promise<unknown>
  /** What is typed in it. The commands that these print are then typed, too. */
  typed: readonly string[]
  /** What a message asks for before its command: "Once that is fixed, …". */
  fix?: string
}

const RUN = 'delta run --agent agent -w work -m Go'
const SHOW = 'delta show -w work'
/** What prints commands about a damaged run, too. */
const LOOKS = [SHOW, 'delta list-runs -w work', 'delta journal verify -w work']
const calls = (name: string, args: object) => ({ tool_calls: [{ name, arguments: { ...args } }] })
const ENDS = [{ content: 'So.' }, { content: 'So again.' }, { content: 'And again.' }]
const asks = (args: object): TemporaryAgentOptions => ({
  turns: [calls('ask_human', { prompt: 'Which?', ...args }), ...ENDS],
})
const WORK = {
  name: 'work',
  description: 'Works, once.',
  shell: '[ -e started ] || { touch started; exec sleep 300; }',
}
const WORKS: TemporaryAgentOptions = { tools: [WORK], turns: [calls('work', {}), ...ENDS] }
const REMOVE = { name: 'remove', description: 'Removes.', exec: 'rm -f gone', effects: { destructive: true } }

const after = (command: string) => (place: Place) => place.type(command)
const stoppedBy = (signal: string) => async (place: Place) => {
  const engine = place.type(`exec ${RUN}`)
  await waitForFile(join(place.path, 'work/started'))
  await place.type(`kill -${signal} $(jq -r .pid work/.delta/*/lease/1)`)
  return engine
}
const damagedBy = (command: string) => async (place: Place) => {
  await place.type(RUN)
  return place.type(`cd work/.delta/$(cat work/.delta/LATEST) && ${command}`)
}

const SITUATIONS: Record<string, Situation> = {
  'an empty workspace': {
    typed: ['delta continue -w work', 'delta show -w work', RUN.replace('agent -w', 'none -w')],
  },
  'an agent without a key': { agent: { agent: { llm: { model: 'm' } } }, typed: [RUN] },
  'a run that is completed': {
    agent: { turns: ENDS },
    before: after(RUN),
    typed: [RUN, 'delta continue -w work', SHOW],
  },
  'a run out of iterations': {
    agent: { agent: { max_iterations: 1 }, turns: [calls('nothing', {}), ...ENDS] },
    before: after(RUN),
    typed: [RUN, 'delta continue -w work', SHOW],
  },
  'a run whose model failed': {
    agent: {
      turns: [calls('nothing', {})],
      files: { 'fixed.json': JSON.stringify([calls('nothing', {}), ...ENDS]) },
    },
    before: after(RUN),
    typed: [RUN, 'delta continue -w work', SHOW],
    fix: 'cp agent/fixed.json agent/script.yaml',
  },
  'a run that waits for an answer': { agent: asks({}), before: after(RUN), typed: [RUN, SHOW] },
  'a run that waits for a yes or no': {
    agent: asks({ input_type: 'confirmation' }),
    before: after(RUN),
    typed: [RUN, SHOW],
  },
  'a run that waits for a secret': {
    agent: asks({ sensitive: true }),
    before: after(RUN),
    typed: [RUN, SHOW],
  },
  'a run that waits for approval': {
    agent: { agent: { policy: {} }, tools: [REMOVE], turns: [calls('remove', {}), ...ENDS] },
    before: after(RUN),
    typed: [RUN, 'delta continue -w work', 'delta continue -w work -m yes', SHOW],
  },
  'a run that was interrupted': {
    agent: WORKS,
    before: stoppedBy('INT'),
    typed: [RUN, `${RUN} --new`, SHOW],
  },
  'a run that was killed': {
    agent: WORKS,
    before: stoppedBy('KILL'),
    typed: [RUN, `${RUN} --new`, SHOW],
  },
  'a workspace where another run waits': {
    agent: asks({}),
    before: after(
      `${RUN} --run-id waits; cp agent/script.yaml s; sed -i 's/ask_human/nothing/' agent/script.yaml; ${RUN} --new`,
    ),
    typed: [
      'delta continue -w work',
      'delta continue -w work -m More',
      'delta continue -w work --run-id none',
    ],
  },
  'a workspace where the id is taken': {
    agent: { turns: ENDS },
    before: after(`${RUN} --run-id a`),
    typed: [`${RUN} --run-id a`],
  },
  'a damaged journal': {
    before: damagedBy(`sed -i '2s/^/x/' journal.jsonl`),
    typed: ['delta continue -w work', ...LOOKS],
  },
  'a journal without its beginning': {
    before: damagedBy('sed -i 1d journal.jsonl'),
    typed: ['delta continue -w work', ...LOOKS],
  },
  'a workspace of v1.1': {
    before: async (place) => {
      await using older = await oldRun(place.path)
      await cp(older.path, place.path, { recursive: true, preserveTimestamps: true })
    },
    typed: ['delta continue -w workspace', 'delta show old -w workspace'],
  },
}

test.each(Object.entries(SITUATIONS))(
  'in %s, every command that a message prints works',
  async (_, situation) => {
    await using place = await makePlace(situation)
    await situation.before?.(place)
    await place.save('situation')
    const tried = new Set<string>()
    for (const typed of situation.typed) {
      await place.restore('situation')
      const { stdout, stderr } = await place.type(typed)
      await place.save('typed')
      for (const command of commandsIn(`${stdout}\n${stderr}`)) {
        if (tried.has(command)) continue
        tried.add(command)
        await place.restore('typed')
        if (situation.fix) await place.type(situation.fix)
        const before = await place.state()
        const result = await place.type(command)
        const hasWorked = READS.test(command) ? result.stdout !== '' : (await place.state()) !== before
        expect({ typed, command, hasWorked, ...result }).toMatchObject({
          hasWorked: true,
          exitCode: asksAgain(command, result.stderr) ? 101 : 0,
        })
      }
    }
    expect(tried.size).toBeGreaterThan(0)
  },
)

/** What changes nothing prints something; every other command changes a file. */
const READS = /^delta (show|list-runs|journal verify) /

/** A run that waits is continued without an answer: after a file was written, the message says. */
function asksAgain(command: string, stderr: string): boolean {
  return /--run-id \S+$/.test(command) && stderr.includes('WAITING_FOR_INPUT')
}

/** Lines that end with a command line: behind a colon, or with nothing but blanks before it. Remarks stand in brackets behind it. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/(?:^ *|: +|(?<= {3}))(delta .*?)(?: {3}\(.*)?$/gm)].map(([, command = '']) =>
    command.replace('<agent>', 'agent').replace(/<\w+>/g, 'something'),
  )
}

/** The shell takes only its words apart. */
const ONE_COMMAND = /^delta [^;&|<>()$`]*$/

/** A directory where things are typed, with `delta` on the PATH. It can be put back to what it was. */
interface Place extends AsyncDisposable {
  path: string
  type(command: string): Promise<{ exitCode: number | null; stdout: string; stderr: string }>
  save(name: string): Promise<void>
  restore(name: string): Promise<void>
  state(): Promise<string>
}

async function makePlace({ agent = {} }: Situation): Promise<Place> {
  const root: TemporaryWorkspace = await temporaryWorkspace({
    'bin/delta': `#!/bin/sh\nexec '${process.execPath}' '${DELTA}' "$@"\n`,
  })
  await using made = await temporaryAgent(agent)
  const path = join(root.path, 'here')
  await mkdir(join(path, 'work'), { recursive: true })
  await cp(made.path, join(path, 'agent'), { recursive: true })
  const PATH = `${root.path}/bin:${process.env.PATH}`
  const env = cleanEnvironment({ PATH })
  const copy = async (from: string, to: string) => {
    await rm(to, { recursive: true, force: true })
    await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  }
  return {
    path,
    async type(command) {
      if (!ONE_COMMAND.test(command))
        return runProcess(['sh', '-c', command], { cwd: path, env, input: 'yes\n' })
      const { stdout: words } = await runProcess(['sh', '-c', `printf '%s\\0' ${command}`])
      return delta(words.split('\0').slice(1, -1), { cwd: path, env: { PATH }, input: 'yes\n' })
    },
    save: (name) => copy(path, join(root.path, name)),
    restore: (name) => copy(join(root.path, name), path),
    state: async () =>
      (await runProcess(['sh', '-c', 'find . -type f | sort | xargs cksum'], { cwd: path, env })).stdout,
    [Symbol.asyncDispose]: root.remove,
  }
}
