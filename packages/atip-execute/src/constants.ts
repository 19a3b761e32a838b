export { DEFAULT_MAX_RESULT_LENGTH, DEFAULT_REDACT_PATTERNS, TRUST_LEVEL_ORDER } from '@delta/atip'

/** How long a command may take, in milliseconds, unless the caller or its metadata says otherwise. */
export const DEFAULT_TIMEOUT = 30_000

/** No command is given longer. */
export const MAX_TIMEOUT = 600_000

/** How much output is kept, in bytes, of stdout and stderr together. */
export const DEFAULT_MAX_OUTPUT_SIZE = 1_048_576

/** No more than this is ever kept. */
export const MAX_OUTPUT_SIZE = 10_485_760

/** What joins the words of a flat tool name. */
export const DEFAULT_SEPARATOR = '_'
