import { accessSync, constants, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * For vitest: every test, and every process it starts, has its temporary files in one directory that goes away in the
 * end, so that a worker that was ended leaves none behind; so is the state directory of the user. It looks like a project: no `.env` further up counts in it.
 */
export default function setup() {
  const directory = mkdtempSync(join(plainDirectory(), 'delta-tests-'))
  mkdirSync(join(directory, '.git'))
  process.env.TMPDIR = directory
  process.env.DELTA_STATE_DIR = join(directory, 'state')
  speakEnglish()
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}

/** As programs are quoted in tests. `LC_ALL` goes, for bash complains on stderr about one that is not installed. */
function speakEnglish() {
  const { LC_ALL, LANG = 'C.UTF-8' } = process.env
  Object.assign(process.env, { LANG: LC_ALL || LANG, LC_MESSAGES: 'C' })
  delete process.env.LC_ALL
  delete process.env.LANGUAGE
}

/**
 * Without links, and, if there is one, with a path that no shell would want in quotes: tests compare the commands that
 * are printed for pasting.
 */
function plainDirectory() {
  return [tmpdir(), '/tmp', '/var/tmp'].map(real).find(isPlain) ?? tmpdir()
}

/** @param {string} path */
function real(path) {
  try {
    accessSync(path, constants.W_OK)
    return realpathSync(path)
  } catch {
    return '' // not to be had here
  }
}

/** @param {string} path */
function isPlain(path) {
  return /^[\w./-]+$/.test(path)
}
