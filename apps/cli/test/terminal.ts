import { spawnSync } from 'node:child_process'
import { runProcess, type StartedProcess, startProcess } from '@delta/testkit'
import { cleanEnvironment, DELTA } from './delta.js'

const PTY = `import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`

/** Whether terminals can be had here; without one, or python3 from 3.9 on, their tests are skipped, and say so. */
export const hasTerminal =
  spawnSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode(0); pty.openpty()']).status === 0
if (!hasTerminal)
  console.warn('SKIPPED: python3 or a terminal is missing, so nothing here is tested on a terminal.')

interface Options {
  cwd?: string
  env?: Record<string, string>
}

/** Starts `delta` on a terminal of its own: what is written is typed, and stdout is all that the screen got. */
export function deltaOnTerminal(args: string[], options: Options = {}): StartedProcess {
  return startOnTerminal([process.execPath, DELTA, ...args], options)
}

/** The same for any program. */
export function startOnTerminal(argv: string[], { cwd, env }: Options = {}): StartedProcess {
  return startProcess(['python3', '-c', PTY, ...argv], {
    ...(cwd === undefined ? {} : { cwd }),
    env: cleanEnvironment({ TERM: 'xterm', ...env }),
    interactive: true,
  })
}

/** The same through a shell, so that one stream can go elsewhere: `shellOnTerminal('"$@" | cat', …)`. */
export function shellOnTerminal(script: string, args: string[], options: Options = {}): StartedProcess {
  return startOnTerminal(['sh', '-c', script, 'sh', process.execPath, DELTA, ...args], options)
}

const HANG_UP = `import os, pty, sys
child, terminal = pty.fork()
if child == 0: os.execvp(sys.argv[2], sys.argv[2:])
seen = b''
while sys.argv[1].encode() not in seen: seen += os.read(terminal, 4096)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))`

/** Runs `delta` on a terminal that is closed once it shows `text`. The exit code; negative is a signal. */
export async function hangUpAt(text: string, args: string[]): Promise<number> {
  const argv = ['python3', '-c', HANG_UP, text, process.execPath, DELTA, ...args]
  const { stdout, stderr } = await runProcess(argv, { env: cleanEnvironment({ TERM: 'xterm' }) })
  if (stdout === '') throw new Error(stderr)
  return Number(stdout)
}
