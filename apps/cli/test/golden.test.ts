import { readdir, readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA } from './delta.js'
import { MISTAKES } from './golden/mistakes.js'
import { STORIES } from './golden/stories.js'
import type { Story } from './golden/story.js'

/**
 * What the built command line does, line by line. `hard/` holds what programs rely on: exit codes, the types of journal events,
 * JSON on stdout, the files that are made. `soft/` holds what people read. To record a change that is meant:
 * `npx vitest run apps/cli/test/golden.test.ts -u`; hard and soft change in commits of their own.
 */
const TABLES = fileURLToPath(new URL('./golden/', import.meta.url))

test.each(Object.entries({ ...STORIES, ...MISTAKES }))('%s: as recorded', async (name, story) => {
  const { hard, soft } = await play(story)
  const file = `${name.replaceAll(/[^a-z.]+/g, '-')}.txt`
  await expect(hard).toMatchFileSnapshot(join(TABLES, 'hard', file))
  await expect(soft).toMatchFileSnapshot(join(TABLES, 'soft', file))
})

async function play({ files, lines }: Story): Promise<{ hard: string; soft: string }> {
  await using root = await temporaryWorkspace({
    'bin/delta': `#!/bin/sh\nexec '${process.execPath}' '${DELTA}' "$@"\n`,
    'here/.keep': '',
    ...Object.fromEntries(Object.entries(files).map(([path, content]) => [`here/${path}`, content])),
  })
  const here = join(root.path, 'here')
  const env = cleanEnvironment({
    PATH: `${root.path}/bin:${process.env.PATH}`,
    DELTA_STATE_DIR: join(root.path, 'state'),
  })
  const tables = { hard: '', soft: '' }
  let before = await contentOf(here)
  for (const line of lines) {
    // without --norc, bash takes the socket on its stdin for a login from afar and runs the tester's own .bashrc
    const typed = ['bash', '--norc', '-c', line]
    const { exitCode, stdout, stderr } = await runProcess(typed, { cwd: here, env, input: '' })
    const normal = (text: string) =>
      normalised(
        text
          .replaceAll(here, '/here')
          .replaceAll(root.path, '/root')
          .replaceAll(`'${DELTA}'`, DELTA)
          .replaceAll(DELTA, '/delta'),
      )
    const after = await contentOf(here)
    const json = jsonIn(stdout)
    tables.hard += `$ ${line}\nexit ${exitCode}\n${normal(json)}${normal(changes(before, after))}\n`
    tables.soft += `$ ${line}\n${json === '' ? marked('  ', normal(stdout)) : ''}${marked('! ', normal(stderr))}\n`
    before = after
  }
  return tables
}

function marked(mark: string, text: string): string {
  return text === '' ? '' : `${text.replace(/\n$/, '').replaceAll(/^/gm, mark)}\n`
}

/** What stdout holds as JSON, or as JSON lines, with a key a line, so that a change of one shows. */
function jsonIn(stdout: string): string {
  try {
    return `${JSON.stringify(JSON.parse(stdout), null, 1)}\n`
  } catch {
    const lines = stdout.trimEnd().split('\n')
    return lines.every((line) => /^\{.*\}$/.test(line)) ? `${lines.map(typeOf).join(' ')}\n` : ''
  }
}

/** The type of an event, or what the line is instead. */
function typeOf(line: string): string {
  try {
    return (JSON.parse(line) as { type?: string }).type ?? 'no-type'
  } catch {
    return 'no-json'
  }
}

/** Files that were made or removed, and the types of events that were added to journals. */
function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  const made = [...after.keys()].filter((path) => !before.has(path)).map((path) => `+ ${path}`)
  const gone = [...before.keys()].filter((path) => !after.has(path)).map((path) => `- ${path}`)
  const grown = [...after]
    .filter(([path, content]) => path.endsWith('/journal.jsonl') && content !== before.get(path))
    .map(([path, content]) => `${path}: ${eventsIn(content.slice(before.get(path)?.length ?? 0))}`)
  return [...made, ...gone, ...grown].map((line) => `${line}\n`).join('')
}

function eventsIn(lines: string): string {
  return lines.trimEnd().split('\n').map(typeOf).join(' ')
}

async function contentOf(directory: string): Promise<Map<string, string>> {
  const names = (await readdir(directory, { recursive: true }))
    .filter((name) => !/(^|\/)(\.git|snapshots\/objects)\//.test(name)) // how git keeps them
    .sort()
  const files = new Map<string, string>()
  for (const name of names) {
    if (!(await stat(join(directory, name))).isFile()) continue
    files.set(name, name.endsWith('journal.jsonl') ? await readFile(join(directory, name), 'utf8') : '')
  }
  return files
}

/** Without what is different each time: times, ids, processes, sizes that follow from paths. */
function normalised(text: string): string {
  return text
    .replaceAll(hostname(), 'HOST')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d{8}_\d{6}_[0-9a-f]{6}/g, 'RUN_ID')
    .replaceAll(/\d{8}[T_-]?\d{6,9}Z?/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'SHA256')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID')
    .replaceAll(/\b\d+s +(?=\d+ +\w)/g, 'DURATION   ') // an age in a table, and the blanks that make it as wide as 10s
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, 'DURATION')
    .replaceAll(/"(pid|duration_ms|latency_ms|epoch)": ?\d+/g, '"$1": N')
    .replaceAll(/process \d+/g, 'process N')
    .replaceAll(/\b(byte|bytes) \d+/g, '$1 N') // behind an event that has a process in it
    .replaceAll(process.execPath, 'node')
    .replaceAll(process.version, 'NODE')
}
