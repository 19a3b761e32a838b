import type { Bytes } from './bytes.js'
import { type Git, type Objects, startGit } from './git.js'
import { quotePath } from './names.js'

/** A `git fast-import` that makes at most one snapshot. Its objects exist for others once it has ended well, and not before. */
export interface FastImport {
  /** Sends contents. `sent` counts them, and `M` names them by that number. */
  sendBlob(bytes: Buffer): Promise<void>
  /** Begins the snapshot; to be followed by its changes. */
  beginCommit(commit: { label: string; from: string | undefined }): Promise<void>
  remove(path: Bytes): Promise<void>
  /** @param blob - The number of what was sent, or the id of a blob that the store has. */
  put(path: Bytes, mode: '100644' | '100755' | '120000', blob: number | string): Promise<void>
  putInline(path: Bytes, bytes: Bytes): Promise<void>
  /**
   * Ends the snapshot, and git.
   *
   * @returns Its id, and the id of the root `files`; null when that has no file.
   */
  finish(): Promise<{ id: string; filesId: string | null }>
  /** Ends git without a snapshot. What was sent stays in the store. @returns Its ids, in order. */
  giveUp(): Promise<string[]>
}

/** The mark of the commit; the contents have the marks behind it. */
const COMMIT_MARK = 1

const CHUNK = 1 << 16

/**
 * @param signal - Ends the waiting for room in the pipe; whoever waits then looks at the signal.
 * @throws {SnapshotError} What `startGit` throws; each function throws `ERR_SNAPSHOT_GIT` once git has failed.
 */
export async function startFastImport(objects: Objects, signal: AbortSignal): Promise<FastImport> {
  const { child, ended }: Git = await startGit(objects, ['fast-import', '--quiet', '--done', '--force'])
  let answers = ''
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  let sent = 0
  let failure: unknown
  let wake = () => {}
  const onEvent = () => wake()
  child.stdin.on('drain', onEvent)
  signal.addEventListener('abort', onEvent)
  ended
    .catch((error) => {
      failure = error
    })
    .finally(() => {
      signal.removeEventListener('abort', onEvent)
      wake()
    })

  let text: Bytes = ''
  function flush(): void {
    if (text !== '') child.stdin.write(text, 'latin1')
    text = ''
  }

  /** What is short goes together: a write costs more than the commands in it. */
  async function send(...parts: (Bytes | Buffer)[]): Promise<void> {
    for (const part of parts) {
      if (part.length < CHUNK) text += typeof part === 'string' ? part : part.toString('latin1')
      else {
        flush()
        child.stdin.write(part, 'latin1')
      }
    }
    if (text.length >= CHUNK) flush()
    if (child.stdin.writableNeedDrain && failure === undefined && !signal.aborted) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    if (failure !== undefined) throw failure
  }

  async function end(): Promise<string[]> {
    text += 'done\n'
    flush()
    child.stdin.end()
    await ended
    return answers.split('\n').slice(0, -1)
  }

  return {
    async sendBlob(bytes) {
      sent += 1
      await send(`blob\nmark :${COMMIT_MARK + sent}\ndata ${bytes.length}\n`, bytes, '\n')
    },
    async beginCommit({ label, from }) {
      const seconds = Math.floor(Date.now() / 1000)
      const message = Buffer.from(label)
      const head = `commit refs/heads/main\nmark :${COMMIT_MARK}\ncommitter delta <delta@localhost> ${seconds} +0000\n`
      await send(`${head}data ${message.length}\n`, message, from === undefined ? '\n' : `\nfrom ${from}\n`)
    },
    remove: (path) => send(`D ${quotePath(path)}\n`),
    put(path, mode, blob) {
      return send(
        `M ${mode} ${typeof blob === 'number' ? `:${COMMIT_MARK + blob}` : blob} ${quotePath(path)}\n`,
      )
    },
    putInline: (path, bytes) => send(`M 100644 inline ${quotePath(path)}\ndata ${bytes.length}\n${bytes}\n`),
    async finish() {
      text += `\nls :${COMMIT_MARK} "files"\nget-mark :${COMMIT_MARK}\n`
      const [files = '', id = ''] = await end()
      return { id, filesId: /^040000 tree ([0-9a-f]+)\t/.exec(files)?.[1] ?? null }
    },
    async giveUp() {
      for (let number = 1; number <= sent; number++) text += `get-mark :${COMMIT_MARK + number}\n`
      return end()
    },
  }
}
