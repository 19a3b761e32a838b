import { systemCode } from './errors.js'

/**
 * Does one of the things that remain when a command has been run. Its result is worth more than any of them, so what the
 * system has against it (a full disk, say) is not thrown.
 *
 * @returns `otherwise` and the reason, if it could not be done.
 */
export function noticeUnless(done: () => void, otherwise: string): string[] {
  try {
    done()
    return []
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return [`${otherwise}: ${(error as Error).message}`]
  }
}
