import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type ProcessResult, type StartedProcess, smallDisk, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { type PlannedCell, plannedCells, problemsIn, processesBelow } from './check-evaluation.js'
import { delta, startDelta } from './delta.js'

/** `SEED=7 npm run test:real` disturbs in another order. */
const SEED = Number(process.env.SEED ?? 1)
/** 320 cells. */
const REPEATS = Number(process.env.DELTA_TEST_REPEATS ?? 16)

/** Programs of two arguments with a mistake, and what mends it. */
const TASKS = {
  sum: { wrong: 'echo $(($1 - $2))', mend: 's/-/+/', checks: { '2 3': '5', '40 2': '42' } },
  product: { wrong: 'echo $(($1 + $2))', mend: 's/+/*/', checks: { '2 3': '6', '0 9': '0' } },
  last: { wrong: 'echo "$1"', mend: 's/1/2/', checks: { 'a b': 'b', 'b a': 'a' } },
  longer: {
    wrong: 'test ${#1} -gt ${#2} && echo "$2" || echo "$1"',
    mend: 's/-gt/-le/',
    checks: { 'aa b': 'aa', 'a bb': 'bb' },
  },
  count: { wrong: 'seq "$1" "$2" | wc -c', mend: 's/-c/-l/', checks: { '1 9': '9', '3 3': '1' } },
}

/** Says when it acts to a file outside of the evaluation. */
const TELL = 'echo "agent $DELTA_CELL $(date +%s%N)" >> "$WITNESS"'
/** As an agent does that reads that the disk is full. */
const MEND = 'until sed -f mend.sed program.sh > new && mv new program.sh; do sleep 0.05; done'

function taskFiles(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TASKS).flatMap(([id, { wrong, mend, checks }]) => {
      const tests = Object.entries(checks).map(
        ([given, wanted]) => `test "$(sh program.sh ${given})" = ${wanted} || exit 1`,
      )
      return Object.entries({
        'instruction.md': `program.sh is wrong: ${wrong}. Correct it.\n`,
        'workspace/program.sh': `${wrong}\n`,
        'workspace/mend.sed': `${mend}\n`,
        'tests/check.sh': `${tests.join('\n')}\n`,
        'solution/solve.sh': `${TELL}\nsleep 0.05\n${MEND}\n${TELL}\n`,
      }).map(([name, text]) => [`tasks/${id}/${name}`, text])
    }),
  )
}

/** Corrects the program with two seeds of three. */
const WORK = `${TELL}; sleep 0.05; if [ $((DELTA_SEED % 3)) != 0 ]; then ${MEND}; fi; ${TELL}`
/** Leaves its process group, and goes on until it is ended. */
const LEAVE = `setsid sh -c 'while :; do ${TELL}; sleep 0.1; done' > /dev/null 2>&1 < /dev/null &`

function scoreOf({ variant, seed }: PlannedCell): number {
  if (variant === 'oracle') return 1
  return variant !== 'nop' && seed % 3 !== 0 ? 1 : 0
}

function agentFiles(name: string, command: string): Record<string, string> {
  const tools = [
    { name: 'look', shell: 'cat program.sh' },
    { name: 'work', shell: command, on_interrupt: 'rerun' },
  ]
  const llm = { provider: 'script', script: 'script.yaml' }
  return {
    [`${name}/agent.yaml`]: JSON.stringify({ name, llm, tools }),
    [`${name}/script.yaml`]:
      '- tool_calls: [{ name: look }]\n- tool_calls: [{ name: work }]\n- content: Done.\n',
    [`${name}/context.yaml`]: 'sources: [{ type: journal, id: history }]\n',
  }
}

function evalFile(witness: string): string {
  const score = [
    'sleep 0.05; sh check.sh; code=$?; nonce=$(date +%s%N)-$$; echo "nonce $nonce"',
    `echo "scorer $DELTA_CELL $nonce $code" >> ${witness}; exit $code`,
  ]
  return JSON.stringify({
    name: 'x',
    tasks: 'tasks/',
    variants: {
      oracle: { agent: 'oracle' },
      nop: { agent: 'nop' },
      seeded: { agent: './seeded' },
      leaving: { agent: './leaving' },
    },
    repeats: REPEATS,
    concurrency: 4,
    setup: 'sleep 0.02; for i in 1 2 3; do until echo $i > set-up-$i; do sleep 0.05; done; done',
    score: { take: ['program.sh'], command: score.join('; ') },
  })
}

test(`killed, stopped and out of disk again and again, an evaluation scores each cell once, as one that nobody disturbs (SEED=${SEED})`, {
  timeout: 900_000,
}, async () => {
  await using disk = await smallDisk('size=128m')
  const home = await temporaryWorkspace({ ...taskFiles(), witness: '' }, { onCleanup: onTestFinished })
  for (const [name, text] of Object.entries({
    'eval.yaml': evalFile(join(home.path, 'witness')),
    ...agentFiles('seeded', WORK),
    ...agentFiles('leaving', `${LEAVE} ${WORK}`),
  }))
    await home.write(name, text)
  const witness = { path: join(home.path, 'witness') }
  const env = { WITNESS: witness.path, DELTA_STATE_DIR: join(home.path, 'state') }
  const at = { cwd: home.path, env }

  const disturbed = join(disk.path, 'disturbed.eval')
  const crew = crewOf(disturbed, at)
  const counts = await disturb(crew, { disk: disk.mounted ? disk.path : undefined })
  console.log(`SEED=${SEED}: ${JSON.stringify(counts)}`)
  expect([...problemsIn(disturbed, { witness, scoreOf }), ...crew.failures]).toEqual([])

  const calm = join(home.path, 'calm.eval')
  expect(await delta(['eval', 'run', '-q', '--into', calm], at)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(problemsIn(calm, { witness, scoreOf })).toEqual([])
  const reports = [disturbed, calm].map((directory) =>
    delta(['eval', 'report', directory, '--format', 'json'], at),
  )
  const [ours, theirs] = (await Promise.all(reports)).map(({ stdout }) => withoutCosts(JSON.parse(stdout)))
  expect(ours).toEqual(theirs)
  expect(ours?.cells).toMatchObject({ planned: 20 * REPEATS, scored: 20 * REPEATS })
})

/** How long a run takes is no promise, and one that was killed may have asked twice: that was paid. */
function withoutCosts(report: { variants: object[]; cells: object }) {
  return {
    ...report,
    variants: report.variants.map((variant) => ({ ...variant, seconds: undefined, totals: undefined })),
  }
}

/** The first runs the evaluation; the others are further workers. */
const NAMES = ['run', 'work 2', 'work 3'] as const

function crewOf(directory: string, at: Parameters<typeof startDelta>[1]) {
  const working = new Map<string, StartedProcess>()
  const stopped = new Set<string>()
  const killed = new Set<StartedProcess>()
  const failures: string[] = []

  function start(name: (typeof NAMES)[number]): void {
    const [, number] = name.split(' ')
    const words =
      number === undefined
        ? ['run', '-q', '--into', directory]
        : ['work', directory, '-q', '--shard', `${number}/3`]
    if (number !== undefined && !existsSync(join(directory, 'manifest.jsonl'))) return
    const started = startDelta(['eval', ...words], at)
    working.set(name, started)
    void started.result.then((result) => {
      if (working.get(name) === started) working.delete(name)
      if (!killed.has(started) && !isExpected(result)) failures.push(`${name}: ${JSON.stringify(result)}`)
    })
  }

  return {
    directory,
    failures,
    working,
    startMissing(): void {
      for (const name of NAMES) if (!working.has(name)) start(name)
    },
    async kill(name: string): Promise<void> {
      const process = working.get(name)
      if (process === undefined) return
      killed.add(process)
      process.kill('SIGKILL')
      await process.result
      stopped.delete(name)
    },
    stop(name: string): void {
      working.get(name)?.kill('SIGSTOP')
      stopped.add(name)
    },
    resume(): void {
      for (const name of stopped) working.get(name)?.kill('SIGCONT')
      stopped.clear()
    },
    stopped,
  }
}

/** All is done, or the disk is full. */
function isExpected({ exitCode, stderr }: ProcessResult): boolean {
  return exitCode === 0 || (exitCode === 1 && /ENOSPC/.test(stderr))
}

type Crew = ReturnType<typeof crewOf>

/** Disturbs after every few results, until all cells have theirs. */
async function disturb(crew: Crew, { disk }: { disk: string | undefined }): Promise<Record<string, number>> {
  const random = randomFrom(SEED)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const counts: Record<string, number> = {}
  const scorersKilled = new Set<string>()
  const kinds = {
    'kill -9 of run': () => crew.kill('run'),
    'kill -9 of a worker': () => crew.kill(pick(['work 2', 'work 3']) ?? ''),
    'kill -9 of all': async () => {
      for (const name of NAMES) await crew.kill(name)
    },
    'kill -9 of a scorer': () => killScorer(crew, scorersKilled),
    SIGSTOP: async () => crew.stop(pick(NAMES) ?? ''),
    ...(disk !== undefined && { 'full disk': () => fillDisk(crew, disk) }),
  }
  crew.startMissing()
  for (let scored = 0; crew.failures.length === 0; ) {
    const count = await untilScored(crew, scored + 4 + Math.floor(random() * 16))
    if (isDone(crew, count)) break
    scored = count
    crew.resume()
    const kind = pick(Object.keys(kinds) as (keyof typeof kinds)[]) ?? 'SIGSTOP'
    await wait(random() * 100) // anywhere between two writes
    await kinds[kind]?.()
    counts[kind] = (counts[kind] ?? 0) + 1
    crew.startMissing()
  }
  crew.resume()
  await Promise.all([...crew.working.values()].map(({ result }) => result))
  return counts
}

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Resolves with the number of results, once there are so many or all. */
async function untilScored(crew: Crew, wanted: number): Promise<number> {
  for (;;) {
    const count = scoredIn(crew.directory)
    if (count >= wanted || isDone(crew, count) || crew.failures.length > 0) return count
    crew.startMissing()
    await wait(20)
  }
}

function isDone({ directory }: Crew, scored: number): boolean {
  return existsSync(join(directory, 'manifest.jsonl')) && scored === plannedCells(directory).length
}

function scoredIn(directory: string): number {
  const cells = join(directory, 'cells')
  return existsSync(cells)
    ? readdirSync(cells).filter((cell) => existsSync(join(cells, cell, 'result.json'))).length
    : 0
}

/** One that runs now, in a cell where none was killed yet: three signals would be the scorer's own fault. */
async function killScorer({ directory }: Crew, killed: Set<string>): Promise<void> {
  for (const pid of processesBelow(directory)) {
    const env = readEnvironment(pid)
    const cell = /\0DELTA_CELL=([^\0]+)/.exec(env)?.[1] ?? ''
    if (!env.includes('\0SCORE_FILE=') || killed.has(cell) || !leadsGroup(pid)) continue
    killed.add(cell)
    process.kill(-pid, 'SIGKILL')
    return
  }
}

function readEnvironment(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`
  } catch {
    return ''
  }
}

function leadsGroup(pid: number): boolean {
  try {
    const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(group) === pid
  } catch {
    return false
  }
}

/** Leaves no room until all workers have ended, or all that they do waits for room. */
async function fillDisk(crew: Crew, disk: string): Promise<void> {
  const ballast = join(disk, 'ballast')
  crew.resume()
  const until = performance.now() + 5000
  while (crew.working.size > 0 && performance.now() < until) {
    fill(ballast)
    await wait(5)
  }
  rmSync(ballast)
}

function fill(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (const size of [1 << 20, 4096]) writeUntilFull(file, Buffer.alloc(size))
  } finally {
    closeSync(file)
  }
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    while (writeSync(file, bytes) === bytes.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
