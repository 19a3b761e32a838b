import { UsageError } from './usage.js'

/** What `--mask` hides in a comparison. @throws {UsageError} One is not a regular expression. */
export function masksIn(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => {
    try {
      return new RegExp(pattern, 'gu')
    } catch (cause) {
      const why = (cause as Error).message.replace(/^Invalid regular expression: .*: /s, '')
      throw new UsageError(`--mask ${JSON.stringify(pattern)}: not a regular expression: ${why}.`, { cause })
    }
  })
}
