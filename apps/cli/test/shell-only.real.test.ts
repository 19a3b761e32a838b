import { join } from 'node:path'
import { forkRun } from '@delta/engine'
import {
  type AnswerTurn,
  areInstalled,
  runProcess,
  startScriptedServer,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, KEY, scene } from './delta.js'

/** What an agent does that has nothing but a shell: one script in each iteration, each followed by a commit. */
const SCRIPTS = [
  'git init -q . && echo .delta > .git/info/exclude',
  'cat > notes.md <<END\n# Notes\n$(seq 100)\nEND',
  `sed -i 's/^line 3$/third line/' d1/*.txt`,
  'chmod 755 d2/1.txt && chmod 600 d2/2.txt && chmod 2750 d2 && chmod 1777 d3',
  'rm d4/*.txt && rm -r d5',
  'ln -s d1/1.txt link && ln -s ../nowhere dangling && ln -s . loop && ln -s /etc absolute',
  'mkdir -p "an empty one" empty/in/empty',
  String.raw`touch $'new\nline' "two  spaces" $'tab\there' $'latin-\xe9' -- -dash ,comma 'quote"s' && echo x > $'new\nline'`,
  'head -c 200000 /dev/urandom > random.bin && printf "a\\0b\\r\\n" > nul.bin',
  'mv d6 moved && mv d7/1.txt "d7/one more.txt"',
  'rm notes.md && mkdir notes.md && echo inside > notes.md/file',
  'rm -r notes.md && echo "a file again" > notes.md && rm link && mkdir link',
  'touch -d "2001-02-03 04:05:06.123456789" d8/1.txt && touch -h -d "@1" dangling && touch -d "@1500000000.5" "an empty one"',
  `cp -p d9/1.txt kept && sed -i 's/line 1/LINE 1/' d9/1.txt && touch -r kept d9/1.txt && rm kept`,
  'git checkout -qb other && git mv d10 renamed',
  'git init -q nested && echo one > nested/a && git -C nested add a && git -C nested -c user.name=n -c user.email=n@n commit -qm one',
  'git gc -q --prune=now',
  'truncate -s 10 random.bin && dd if=/dev/zero of=nul.bin bs=1 count=1 conv=notrunc status=none && echo more >> d1/2.txt',
  'rmdir empty/in/empty empty/in && ln -sfn d2 absolute && find d11 -type f -exec chmod a-w {} +',
  'rm -rf d12 d13 moved && git checkout -q HEAD -- d12 && printf "%s\\n" "the end" | tee last.txt',
]
const COMMIT = 'git add -A && git -c user.name=n -c user.email=n@n commit -qm "An iteration" --allow-empty'

/** Another copy of the files of each iteration, made at that time by another program. */
const COPY =
  'mkdir -p "$COPIES/$ITERATION_COUNT" && find . -mindepth 1 -maxdepth 1 ! -name .delta -exec cp -a -t "$COPIES/$ITERATION_COUNT" {} +'

/** Everything in a directory that a snapshot keeps: names, kinds, modes, times to the microsecond, targets, contents. */
async function listing(directory: string): Promise<string[]> {
  const find = String.raw`find . -path ./.delta -prune -o -mindepth 1 -printf '%P|%y|%m|%T@|%l\0'`
  const sums = 'find . -path ./.delta -prune -o -type f -print0 | xargs -0 -r sha256sum -z'
  const { stdout, stderr } = await runProcess(['sh', '-c', `${find}; ${sums}`], { cwd: directory })
  expect(stderr).toBe('')
  return stdout
    .split('\0')
    .map((line) => line.replace(/\|(\d+\.\d{6})\d*\|/, '|$1|'))
    .sort()
}

/** The same without times and without what git keeps: equal for two agents that did the same. */
async function outcome(directory: string): Promise<string[]> {
  const lines = await listing(directory)
  return lines
    .filter((line) => !/(^|\/|\.\/)\.git(\/|\|)/.test(line))
    .map((line) => line.replace(/\|\d+\.\d+\|/, '|'))
}

/** Everything of a directory, with the times of its inodes: equal only if nothing was written to it. */
async function untouched(directory: string): Promise<string> {
  return (await runProcess(['find', directory, '-printf', '%P %y %m %s %i %n %T@ %C@\\n'])).stdout
}

test.skipIf(!areInstalled('git', 'bash') || process.platform !== 'linux')(
  'of an agent that edits 1,000 files through the shell alone, a fork of each iteration has the files as they were; the original is as it was',
  async () => {
    const turns: AnswerTurn[] = [...SCRIPTS, undefined].map((script, index) => ({
      content: `Turn ${index}.`,
      hold: `snapshot ${index}`,
      ...(script !== undefined && {
        tool_calls: [{ name: 'bash', arguments: { script: `set -e; ${script}\n${COMMIT}` } }],
      }),
    }))
    const server = await startScriptedServer(turns)
    onTestFinished(() => server[Symbol.asyncDispose]())
    const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const place = (name: string) => join(elsewhere.path, name)
    const files = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [
        `d${index % 20}/${Math.floor(index / 20)}.txt`,
        Array.from({ length: 10 + (index % 90) }, (_, line) => `line ${line}\n`).join(''),
      ]),
    )
    const env = { ...KEY, COPIES: place('copies') }
    const { workspace, start, at, events } = await scene(
      {
        baseUrl: server.baseUrl,
        agent: { snapshots: { every: 'iteration', ignore: ['node_modules'] } },
        tools: [{ name: 'bash', exec: 'bash -c ${script}' }],
        files: {
          'hooks.yaml': `on_iteration_end: ${JSON.stringify({ command: ['sh', '-c', COPY], pass_env: ['COPIES'] })}\n`,
        },
      },
      { files, env },
    )

    const running = start('-q')
    const runId = (await waitForFile(join(workspace.path, '.delta/LATEST'))).trim()
    const run = join(workspace.path, '.delta', runId)
    for (const index of turns.keys()) {
      await waitForFile(join(run, 'journal.jsonl'), `"type":"SNAPSHOT","iteration":${index},"snapshot_id":"`)
      server.release(`snapshot ${index}`)
    }
    expect(await running.result).toMatchObject({ exitCode: 0, stdout: 'Turn 20.\n' })
    const results = await events('ACTION_RESULT')
    expect(results.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
    expect(results).toHaveLength(SCRIPTS.length)
    const original = await untouched(workspace.path)

    for (const n of SCRIPTS.keys()) {
      const iteration = n + 1
      const into = place(`fork-${iteration}`)
      if ([1, 10, 20].includes(iteration))
        expect(await at('fork', '--at', `${iteration}`, '--into', into, '--no-run')).toMatchObject({
          exitCode: 0,
        })
      else await forkRun({ run, at: iteration, into, files: 'require' })
      const copy = await listing(place(`copies/${iteration}`))
      expect(copy.length).toBeGreaterThan(1500)
      expect(await listing(into), `iteration ${iteration}`).toEqual(copy)
    }

    const into = place('goes-on')
    const words = ['fork', workspace.path, '--at', '10', '--into', into, '-q']
    const forked = await delta(words, { env: { ...env, COPIES: place('copies of the fork') } })
    expect(forked).toMatchObject({ exitCode: 0, stdout: 'Turn 20.\n' })
    expect(await outcome(into)).toEqual(await outcome(place('copies/20')))
    expect(await untouched(workspace.path)).toBe(original)
  },
)
