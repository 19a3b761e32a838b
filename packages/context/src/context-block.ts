/** The account of one source of `context.yaml`, or of the definitions of the tools. */
export interface ContextBlock {
  /** Its `id` in `context.yaml`, else its path without a leading variable, else its type. `tools` for the definitions. */
  source_id: string
  type: 'file' | 'text' | 'computed_file' | 'skills' | 'journal' | 'tools'
  /** Number of chat messages that it is, or is part of; 0 if the source was left out, and for the tools. */
  messages: number
  /** Index of the first of them in the request. Absent if the source was left out. */
  message?: number
  /** First byte of a text in the UTF-8 content of that message. */
  from?: number
  /** The byte after the last one of a text. */
  to?: number
  /** How many of the first bytes of a text are the header and the blank line below. */
  header_bytes?: number
  /**
   * Size of what its messages send, as JSON. Sources of a merged message share its size. An image or a file counts four bytes
   * for each of its tokens.
   */
  bytes: number
  /** Estimated, or counted if there is a counter. */
  tokens: number
  /** SHA-256 of its messages as JSON, concatenated, without `prompt_cache`. A merged text counts as if it were alone. */
  sha256: string
  /** Why it was left out, what was cut, where it came from, and where its `prompt_cache` stands. */
  note?: string
}
