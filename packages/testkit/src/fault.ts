import type { ServerResponse } from 'node:http'
import type { Fault, FaultName } from './script.js'

/** An error answer in OpenAI's shape. */
export interface Failure {
  readonly status: number
  readonly message: string
  readonly param?: string
  readonly code?: string
}

export function sendFailure(failure: Failure, response: ServerResponse): void {
  const { status, message, param = null, code = null } = failure
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type, param, code } }))
}

export function sendFault(fault: Fault, response: ServerResponse): void {
  if ('fault' in fault) {
    BY_NAME[fault.fault](response)
    return
  }
  if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
  for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value)
  if (fault.body !== undefined) {
    response.writeHead(fault.status)
    response.end(fault.body)
    return
  }
  const { status, message = `Scripted failure ${status}.`, code } = fault
  sendFailure({ status, message, ...(code === undefined ? {} : { code }) }, response)
}

const HALF_A_BODY =
  '{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assist'
const WEB_PAGE =
  '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Please log in.</body></html>\n'

const BY_NAME: Record<FaultName, (response: ServerResponse) => void> = {
  reset: (response) => {
    response.socket?.resetAndDestroy()
  },
  truncated: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(HALF_A_BODY)
  },
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': HALF_A_BODY.length * 2 })
    response.write(HALF_A_BODY, () => response.destroy())
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(WEB_PAGE)
  },
  empty: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end()
  },
  hang: () => {},
}
