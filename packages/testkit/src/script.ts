/**
 * What the scripted server answers, as plain JSON: it crosses a process boundary,
 * and by hand it is a file.
 */
export interface ServerScript {
  readonly turns: readonly ScriptedTurn[]
  /** Scripts for other conversations on the same server; the first whose `when` occurs in a message wins. */
  readonly conversations?: readonly { readonly when: string; readonly turns: readonly ScriptedTurn[] }[]
  /**
   * `conversation` (default): the turn follows from the assistant messages in the request, so a request
   * that is sent again, by a retry or after a kill, gets the same answer. `requests`: the number of
   * earlier requests, for histories that are cut or summarised.
   */
  readonly choose?: 'conversation' | 'requests'
  /** Answer 400 when `stream_options` is sent, as some servers do. */
  readonly refuseStreamOptions?: boolean
}

export type ScriptedTurn = AnswerTurn | Fault

/**
 * `content` and string `arguments` may hold `{{last_observation}}`, the newest tool message's text without its final
 * newlines; `\{{last_observation}}` stays as text, without its backslash.
 */
export interface AnswerTurn {
  readonly content?: string | null | undefined
  readonly tool_calls?: readonly ScriptedCall[] | undefined
  /** Further fields of the message, such as `reasoning_content`, which is a reasoning item in a response. */
  readonly message?: Readonly<Record<string, unknown>>
  readonly finish_reason?: string
  /** `null`: the answer has no usage. By default it is estimated from the texts' lengths, reasoning apart. */
  readonly usage?: Readonly<Record<string, unknown>> | null
  /** The answer waits until `server.release(hold)`. */
  readonly hold?: string
  /** The same, but after the headers and the first part of the body were sent. */
  readonly holdMidway?: string
  /** What the first requests that reach this turn get instead of the answer. */
  readonly before?: readonly Fault[]
  /** Answer this many turns in a row alike. Default 1. */
  readonly times?: number
}

/** `arguments` as an object is sent as its JSON text, as a string it is sent as it is: well-formed or not. */
export interface ScriptedCall {
  readonly id?: string
  readonly name: string
  readonly arguments?: string | Readonly<Record<string, unknown>> | undefined
}

/**
 * An HTTP error (`status`), or one of the other ways in which servers fail:
 *
 * - `reset`: the connection is reset without an answer
 * - `truncated`: the body of the answer ends in its middle, and the message is complete for HTTP
 * - `cut`: the connection closes before the announced length
 * - `html`: status 200 and a web page, as from a wrong base URL or a captive portal
 * - `empty`: status 200 and no body
 * - `hang`: nothing is ever sent
 */
export type Fault =
  | {
      readonly status: number
      readonly retryAfter?: string
      readonly message?: string
      readonly code?: string
      readonly body?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly fault: FaultName }

export type FaultName = 'reset' | 'truncated' | 'cut' | 'html' | 'empty' | 'hang'

export interface ScriptRequest {
  readonly messages: readonly ScriptMessage[]
  readonly [parameter: string]: unknown
}

export interface ScriptMessage {
  readonly role?: unknown
  readonly content?: unknown
  readonly [field: string]: unknown
}

export interface ChosenTurn {
  /** 0-based, over all `times`. */
  readonly index: number
  readonly turn: ScriptedTurn | undefined
  /** Names the conversation and the turn, to count `before` by. */
  readonly key: string
  readonly length: number
}

/** The turn a request gets; `turn` is undefined when the script has run out. */
export function chooseTurn(
  script: ServerScript,
  messages: readonly ScriptMessage[],
  earlierRequests: number,
): ChosenTurn {
  const other = (script.conversations ?? []).findIndex(({ when }) =>
    messages.some((message) => textOf(message).includes(when)),
  )
  const turns = script.conversations?.[other]?.turns ?? script.turns
  const unrolled = turns.flatMap((turn) => Array.from({ length: timesOf(turn) }, () => turn))
  const index = script.choose === 'requests' ? earlierRequests : nextTurn(messages)

  return { index, turn: unrolled[index], key: `${other}/${index}`, length: unrolled.length }
}

/** Counts from the last call that carries its turn in its id, so a history that was cut at the front does not mislead. */
function nextTurn(messages: readonly ScriptMessage[]): number {
  const spoken = messages.filter((message) => message.role === 'assistant')
  const marks = spoken.map(
    (message) => /"id":"call_(\d+)_\d+"/.exec(JSON.stringify(message.tool_calls) ?? '')?.[1],
  )
  const last = marks.findLastIndex((mark) => mark !== undefined)
  return Number(marks[last] ?? 0) + spoken.length - (last + 1)
}

/** A message's text, whether it is a string or a list of parts. */
export function textOf(message: ScriptMessage): string {
  return typeof message.content === 'string' ? message.content : JSON.stringify(message.content ?? '')
}

export function isFault(turn: ScriptedTurn): turn is Fault {
  return 'status' in turn || 'fault' in turn
}

function timesOf(turn: ScriptedTurn): number {
  return isFault(turn) ? 1 : (turn.times ?? 1)
}
