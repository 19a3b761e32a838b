import { printJson } from '../present/print.js'
import { type ContextFlags, nextContext } from '../runs/next-context.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

/** `delta context build`: the request that would be sent now, as JSON. No model is asked. */
export async function execute(flags: ContextFlags, terminal: Terminal): Promise<number> {
  const { request } = await nextContext(flags, terminal)
  printJson(terminal, request)
  return EXIT.completed
}
