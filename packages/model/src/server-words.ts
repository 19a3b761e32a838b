import { isObject } from './json.js'

export interface ServerWords {
  readonly message: string
  /** Its code and its type, if any. */
  readonly code: string
}

/** The server's message and code, whatever shape it puts them in. */
export function serverWords(body: string): ServerWords {
  if (looksLikeHtml(body)) return { message: `a web page ("${pageTitle(body)}")`, code: '' }
  const parsed = parseJson(body)
  const first = Array.isArray(parsed) ? parsed[0] : parsed // Gemini puts its error into a list
  if (!isObject(first)) return { message: shorten(body) || '(no explanation)', code: '' }

  const error = isObject(first.error) ? first.error : first
  const message = [error.message, first.error, first.detail].find(
    (text) => typeof text === 'string' && text !== '',
  )
  return {
    message: shorten(typeof message === 'string' ? [message, ...behind(error)].join(' ') : body),
    code: [error.code, error.type].filter(Boolean).join(' '),
  }
}

/** What the server behind a gateway said, or the model's unusable output: the message alone explains little. */
function behind({ metadata, failed_generation }: Record<string, unknown>): string[] {
  const { raw } = Object(metadata) as { raw?: unknown }
  return [raw, failed_generation].flatMap((said) => (said ? [asText(said)] : []))
}

function asText(said: unknown): string {
  return typeof said === 'string' ? said : JSON.stringify(said)
}

export function looksLikeHtml(body: string): boolean {
  return /^\s*<(!doctype|html|head|body)/i.test(body)
}

export function pageTitle(body: string): string {
  return shorten(/<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() || body.replace(/<[^>]*>/g, ' ').trim())
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller shows the text as it is
  }
}
