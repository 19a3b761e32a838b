import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { verifyRun } from '@delta/journal/internal'
import { listRuns, readRequest } from '@delta/journal/runs'
import {
  areInstalled,
  runProcess,
  smallDisk,
  startScriptedServer,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { forkRun, replayRun } from '../src/index.js'
import { original, stateOf, TOOLS, TURNS } from './forking.js'
import { calls, eventsOfType, hooks, scene } from './run.js'

/** Every snapshot is waited for. */
const agent = { snapshots: { every: 'iteration', wait_ms: 60_000 } }
const files = 'require'

/** How often the tool `note` was called, as the files say. */
function notesIn(workspace: string): number {
  const path = join(workspace, 'noted.txt')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}

describe.skipIf(!areInstalled('git'))('the files of an iteration', () => {
  test('are in a fork of each one, also of its artifacts; the run and its workspace are as they were', async () => {
    const shell = `${TOOLS[0]?.shell}; mkdir -p .delta/context_artifacts; cp noted.txt .delta/context_artifacts/`
    const { fork, goOn, workspace } = await original({
      agent,
      tools: [{ name: 'note', shell }, TOOLS[1] ?? {}],
    })
    const before = await stateOf(workspace.path)
    for (const at of [0, 1, 2, 3]) {
      const made = await fork({ at, files })
      expect(notesIn(made.workDirectory)).toBe(at)
      expect(notesIn(join(made.workDirectory, '.delta/context_artifacts'))).toBe(at)
      expect(made.files).toMatchObject({ files: at > 0 ? 1 : 0, leftOut: [] })
      expect(await goOn(made)).toMatchObject({ status: 'COMPLETED', iterations: 4 })
      expect(notesIn(made.workDirectory)).toBe(3)
    }
    expect(await stateOf(workspace.path)).toBe(before)
  })

  test('are those that hooks left before the next request: they had run when the snapshot began', async () => {
    const script = 'echo x >> noted.txt'
    const { fork } = await original({
      agent,
      files: hooks({ on_iteration_start: script, pre_llm_request: script }),
    })
    const made = await fork({ at: 4, files, message: 'Go on.' })
    expect(notesIn(made.workDirectory)).toBe(3 + 2 * 4)
  })

  test('that a command had to wait for say how long', async () => {
    const workspace = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`d/${index}`, `${index}`]),
    )
    const turns = [calls('note'), { content: 'The end.' }]
    const result = await (await scene({ turns, tools: TOOLS, agent }, workspace)).run()
    const [first] = await eventsOfType(result, 'SNAPSHOT')
    expect(first).toMatchObject({
      iteration: 0,
      snapshot_id: expect.any(String),
      waited_ms: expect.any(Number),
    })
    expect(result.totals.waited_ms).toBeGreaterThanOrEqual(Number(Object(first).waited_ms))
  })

  test('are there while the run goes on, whose own snapshots go on, too', async () => {
    const turns = [calls('note'), calls('wait'), { content: 'The end.' }]
    const wait = { name: 'wait', shell: 'touch waiting; while [ ! -e go ]; do sleep 0.02; done' }
    const play = await scene({ turns, tools: [...TOOLS, wait], agent })
    const running = play.run()
    await waitForFile(join(play.workspace.path, 'waiting'))
    const [{ directory = '' } = {}] = await listRuns(play.workspace.path)
    await using elsewhere = await temporaryWorkspace()
    const [one, two] = [join(elsewhere.path, 'one'), join(elsewhere.path, 'two')]
    const options = { run: directory, files, agent: await play.load() } as const
    await forkRun({ ...options, at: 1, into: one })
    expect(readdirSync(one).sort()).toEqual(['.delta', 'noted.txt'])
    await play.workspace.write('go', '')
    expect((await running).status).toBe('COMPLETED')
    await forkRun({ ...options, at: 2, into: two })
    expect(readdirSync(two).sort()).toEqual(['.delta', 'go', 'noted.txt', 'waiting'])
  })

  test('are there of a run that waits for a person, and of one whose server failed', async () => {
    const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }
    const waiting = await original({ agent, turns: [calls('note'), ask] })
    expect(waiting.result.status).toBe('WAITING_FOR_INPUT')
    expect(notesIn((await waiting.fork({ at: 1, files })).workDirectory)).toBe(1)

    await using server = await startScriptedServer([
      calls('note'),
      { content: 'The end.', before: [{ status: 400 }] },
    ])
    const failed = await original({ agent, baseUrl: server.baseUrl })
    expect(failed.result.status).toBe('FAILED')
    const made = await failed.fork({ at: 1, files })
    expect(notesIn(made.workDirectory)).toBe(1)
    const credentials = { apiKey: 'test-key-not-real', baseUrl: server.baseUrl }
    expect(await failed.goOn(made, { credentials })).toMatchObject({
      status: 'COMPLETED',
      answer: 'The end.',
    })
  })

  test('are refused when one is missing, however many were left out on purpose', async () => {
    const shell = 'touch $(seq -f %g.log 120); mkdir -p sub; truncate -s 101M sub/large'
    const { fork } = await original({
      agent: { snapshots: { ...agent.snapshots, ignore: ['*.log'] } },
      tools: [{ name: 'many', shell }],
      turns: [calls('many'), { content: 'The end.' }],
    })
    await expect(fork({ at: 1, files })).rejects.toMatchObject({
      code: 'ERR_ENGINE_FORK_FILES',
      message: 'Iteration 1 lacks 1 file: sub/large (large, 0.1 GB). --allow-missing forks without them.',
    })
    const made = await fork({ at: 1, files: 'allow_missing' })
    expect(made.files).toMatchObject({ files: 0, leftOutCount: 121 })
    expect(made.files?.leftOut).toHaveLength(100)
    expect(made.files?.leftOut[0]).toBe('sub/large (large, 0.1 GB)')
  })

  test('are there when a later engine found nothing changed, and could not keep them again', async () => {
    const play = await original({ agent, turns: [...TURNS, { content: 'More.' }] })
    const { fork, resume, result } = play
    const poorer = await play.load()
    const snapshots = { ignore: [], waitMs: 60_000, maxBytes: 1 }
    await resume({ message: 'And then?', agent: { ...poorer, snapshots } })
    expect((await eventsOfType(result, 'SNAPSHOT')).slice(-2)).toMatchObject([
      { iteration: 3, snapshot_id: expect.any(String) },
      { iteration: 4, snapshot_id: null, reason: 'budget' },
    ])
    expect(notesIn((await fork({ at: 4, files, message: 'Well?' })).workDirectory)).toBe(3)
  })

  test('are there of a fork, those that it inherited and its own, when the first run is gone', async () => {
    const { fork, goOn, workspace } = await original({ agent })
    const first = await fork({ at: 2, files })
    await goOn(first)
    rmSync(workspace.path, { recursive: true })
    for (const at of [1, 2, 3]) {
      const second = await fork({ at, files, run: first.directory })
      expect(notesIn(second.workDirectory)).toBe(at)
      expect(await goOn(second)).toMatchObject({ status: 'COMPLETED' })
      expect(verifyRun(second.directory).ok).toBe(true)
    }
  })

  test('are not taken from elsewhere: through a link in the place of a store nothing is copied', async () => {
    const { fork, result, elsewhere } = await original({ agent })
    const store = join(result.runDirectory, 'snapshots')
    for (const linked of [store, join(store, 'objects/pack')]) {
      renameSync(linked, join(elsewhere.path, 'others'))
      symlinkSync(join(elsewhere.path, 'others'), linked)
      expect(existsSync(join((await fork({ at: 1 })).directory, 'snapshots'))).toBe(false)
      rmSync(linked)
      renameSync(join(elsewhere.path, 'others'), linked)
    }
    expect(existsSync(join((await fork({ at: 1 })).directory, 'snapshots'))).toBe(true)
  })

  test('are only those of the workspace: a command places a link, and what it leads to is neither kept nor written', async () => {
    const elsewhere = await temporaryWorkspace({ 'secret/key': 'x' }, { onCleanup: onTestFinished })
    const link = (name: string, shell: string) => ({ name, shell: shell.replaceAll('$AT', elsewhere.path) })
    const { fork, result } = await original({
      agent,
      tools: [
        link('read', 'mkdir -p .delta; ln -s $AT/secret .delta/context_artifacts; touch a'),
        link('write', 'mv $DELTA_RUN_DIR/snapshots kept; ln -s $AT/secret $DELTA_RUN_DIR/snapshots'),
        link('undo', 'rm $DELTA_RUN_DIR/snapshots; mv kept $DELTA_RUN_DIR/snapshots'),
      ],
      turns: [calls('read'), calls('write'), calls('undo'), { content: 'The end.' }],
    })
    const made = await fork({ at: 1, files })
    expect(made.files).toMatchObject({ files: 1 })
    expect(existsSync(join(made.workDirectory, '.delta/context_artifacts'))).toBe(false)
    expect(await eventsOfType(result, 'SNAPSHOT')).toMatchObject([
      { snapshot_id: expect.any(String) },
      { snapshot_id: expect.any(String) },
      {
        snapshot_id: null,
        reason: 'io',
        message: expect.stringMatching(/snapshots is a link, through which/),
      },
      { snapshot_id: expect.any(String) },
    ])
    expect(await elsewhere.files()).toEqual(['secret/key'])
  })

  test('are there of a run that another program recorded, with an agent that is named', async () => {
    const { fork, result, load } = await original({ agent })
    const path = join(result.runDirectory, 'journal.jsonl')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('"run_id"', '"imported":{"format":"x","sha256":"0"},"run_id"'))
    await expect(fork({ at: 2, files })).rejects.toMatchObject({ code: 'ERR_ENGINE_NO_AGENT' })
    expect(notesIn((await fork({ at: 2, files, agent: await load() })).workDirectory)).toBe(2)
  })

  test('lie in the workspace alone where the runs are kept elsewhere', async () => {
    const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const runsDirectory = join(elsewhere.path, 'runs')
    const { fork, goOn } = await original({ agent }, { runsDirectory })
    const made = await fork({ at: 2, files, runsDirectory })
    expect(readdirSync(made.workDirectory)).toEqual(['noted.txt'])
    expect(await goOn(made, { runsDirectory })).toMatchObject({ status: 'COMPLETED' })
    const again = await fork({ at: 3, files, run: made.directory })
    expect(notesIn(again.workDirectory)).toBe(3)
    expect(again.directory).toBe(join(again.workDirectory, '.delta', again.runId))
  })

  test('are found where the workspace was moved to, and the model reads the path of the fork', async () => {
    const { fork, goOn, workspace, result, elsewhere } = await original({ agent })
    const moved = join(elsewhere.path, 'moved')
    renameSync(workspace.path, moved)
    const made = await fork({ at: 2, files, run: join(moved, '.delta', result.runId) })
    expect(notesIn(made.workDirectory)).toBe(2)
    const ended = await goOn(made)
    const request = await readRequest(ended.runDirectory, 3)
    expect(request).toContain(`in ${made.workDirectory}`)
    for (const old of [workspace.path, moved]) expect(request).not.toContain(old)
    expect(verifyRun(made.directory).ok).toBe(true)
  })

  test('of which a full disk takes a part leave no run', async () => {
    await using disk = await smallDisk('size=400k')
    if (!disk.mounted) return
    const big = { name: 'big', shell: 'head -c 600000 /dev/zero > big' }
    const { fork, workspace } = await original({
      agent,
      tools: [big],
      turns: [calls('big'), { content: 'End.' }],
    })
    const before = await stateOf(workspace.path)
    const into = join(disk.path, 'fork')
    await expect(fork({ at: 1, files, into })).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(await listRuns(into)).toEqual([])
    expect(await stateOf(workspace.path)).toBe(before)
  })

  test('that a full disk does not take are no reason for a run to fail', async () => {
    await using disk = await smallDisk('size=3m')
    if (!disk.mounted) return
    const big = { name: 'big', shell: 'head -c 6000000 /dev/urandom > big' }
    const turns = [calls('big'), calls('note'), { content: 'The end.' }]
    const play = await scene({ agent, tools: [...TOOLS, big], turns })
    const result = await play.run({ runsDirectory: join(disk.path, 'runs') })
    expect(result).toMatchObject({ status: 'COMPLETED', answer: 'The end.' })
    const [first, second] = await eventsOfType(result, 'SNAPSHOT')
    expect(first).toMatchObject({ iteration: 0, snapshot_id: expect.any(String) })
    expect(second).toMatchObject({ iteration: 1, snapshot_id: null, reason: 'git' })
    const pack = join(result.runDirectory, 'snapshots/objects/pack')
    expect(readdirSync(pack).filter((name) => !name.startsWith('pack-'))).toEqual([])
  })

  test('were not kept of a run that was stopped before, nor of a replay', async () => {
    const { fork } = await original({ agent }, { signal: AbortSignal.abort() })
    await expect(fork({ at: 0, files })).rejects.toThrow(': it was stopped before one was taken.')

    const { result, elsewhere, env, fork: forkOf } = await original({ agent })
    const replay = await replayRun({ run: result.runDirectory, into: join(elsewhere.path, 'replay'), env })
    await expect(forkOf({ run: replay.directory, at: 1, files })).rejects.toThrow(
      ': it is a replay, in which no command ran.',
    )
  })

  test('are kept up to a size that all runs of a workspace have together', async () => {
    const shell = 'head -c 300000 /dev/urandom > $DELTA_ACTION_ID'
    const limited = { snapshots: { ...agent.snapshots, max_bytes: '1MB' } }
    const turns = [calls('grow'), { content: 'The end.' }]
    const { run, workspace } = await scene({ agent: limited, tools: [{ name: 'grow', shell }], turns })
    const last: object[] = []
    for (let index = 0; index < 3; index++) {
      const result = await run()
      expect(result.status).toBe('COMPLETED')
      last.push((await eventsOfType(result, 'SNAPSHOT')).at(-1) ?? {})
    }
    expect(last).toMatchObject([
      { iteration: 1, snapshot_id: expect.any(String) },
      { iteration: 1, snapshot_id: expect.any(String) },
      {
        snapshot_id: null,
        reason: 'budget',
        message: expect.stringMatching(/The other runs of this workspace have \d+ bytes of 1000000\.$/),
      },
    ])
    const { stdout } = await runProcess([
      'find',
      workspace.path,
      '-path',
      '*/snapshots/*',
      '-type',
      'f',
      '-printf',
      '%s\\n',
    ])
    const sum = stdout.split('\n').reduce((total, size) => total + Number(size), 0)
    expect(sum).toBeGreaterThan(900_000)
    expect(sum).toBeLessThan(1_000_000)
  })
})
