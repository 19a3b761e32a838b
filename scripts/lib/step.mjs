import { spawn } from 'node:child_process'
import { cleanEnvironment, root } from './environment.mjs'

/**
 * @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, input?: string, timeoutMs?: number }} CommandOptions
 * @typedef {{ code: number, stdout: string, output: string }} CommandResult
 *   `output` is stdout and stderr in the order they came; `code` is 1 when a signal ended the command or it could not start.
 */

/**
 * Runs a command to its end and keeps what it printed.
 *
 * @param {string[]} argv
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 */
export function capture(argv, { cwd = root, env = cleanEnvironment(), input = '', timeoutMs = 0 } = {}) {
  const [command = '', ...args] = argv
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: 'pipe', timeout: timeoutMs })
    let stdout = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.stdin.on('error', () => {}) // the command may end without reading its input
    child.stdin.end(input)
    child.on('error', (error) => resolve({ code: 1, stdout, output: `${output}${error.message}\n` }))
    child.on('close', (code, signal) => {
      resolve({ code: code ?? 1, stdout, output: signal ? `${output}ended by ${signal}\n` : output })
    })
  })
}

/**
 * Runs a command with our own terminal as its terminal.
 *
 * @param {string[]} argv
 * @param {CommandOptions} [options]
 * @returns {Promise<number>} the exit code
 */
export function show(argv, { cwd = root, env = cleanEnvironment() } = {}) {
  const [command = '', ...args] = argv
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: 'inherit' })
    child.on('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/**
 * Runs one named step: a line when it succeeds, with a dot for every two seconds and a further line for each `SKIPPED: …` that
 * the command printed, and everything that it printed when it fails.
 *
 * @param {string} name
 * @param {string[]} argv
 * @param {CommandOptions} [options]
 * @returns {Promise<boolean>} whether it succeeded
 */
export async function step(name, argv, options) {
  process.stdout.write(`${name} ... `)
  const started = performance.now()
  let signs = ''
  const life = setInterval(() => {
    process.stdout.write('.')
    signs = ' '
  }, 2000)
  const { code, output } = await capture(argv, options)
  clearInterval(life)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(
    code === 0 ? `${signs}ok (${seconds} s)\n` : `${signs}FAILED (exit code ${code}, ${seconds} s)\n`,
  )
  const skipped = code === 0 ? (output.match(/^SKIPPED: .*$/gm) ?? []) : []
  for (const line of skipped) process.stdout.write(`  ${line}\n`)
  if (code !== 0) process.stdout.write(`$ ${argv.join(' ')}\n${output.trimEnd()}\n\n`)
  return code === 0
}

/**
 * @param {() => Promise<void>} use
 * @returns {Promise<boolean>} whether it went well; otherwise the reason has been printed
 */
export async function succeeds(use) {
  try {
    await use()
    return true
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return false
  }
}
