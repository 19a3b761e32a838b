/** The part of `process` a command needs; `process` itself is one. */
export interface Terminal {
  /** What was typed to start it, for help and messages; by default `delta-sessions`. */
  name?: string
  /** As in `process`: the interpreter, the script, then what was typed. */
  argv: readonly string[]
  env: NodeJS.ProcessEnv
  /** What relative paths start at. */
  cwd: string | (() => string)
  stdin: AsyncIterable<unknown>
  /** Text, and with `exec --raw` the bytes that a command printed. */
  stdout: { write(output: string | Uint8Array): unknown; isTTY?: boolean; columns?: number }
  stderr: { write(output: string | Uint8Array): unknown }
  /** Without it, signals do what they do to any program. */
  once?(signal: NodeJS.Signals, listener: () => void): unknown
  off?(signal: NodeJS.Signals, listener: () => void): unknown
}

export function nameOf({ name = 'delta-sessions' }: Terminal): string {
  return name
}

export function currentDirectory({ cwd }: Terminal): string {
  return typeof cwd === 'string' ? cwd : cwd()
}

export async function readInput({ stdin }: Terminal): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks).toString('utf8')
}

/** Prints a result, and returns the exit code of a command that worked. */
export function print(terminal: Terminal, text: string): number {
  terminal.stdout.write(text)
  return 0
}

export function printJson(terminal: Terminal, value: unknown): number {
  return print(terminal, `${JSON.stringify(value, null, 2)}\n`)
}
