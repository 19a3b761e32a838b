import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'

/** Wraps a transport; `answered()` resolves once no request received over it still waits for its answer. */
export function withOpenRequests(inner: Transport): { transport: Transport; answered(): Promise<void> } {
  const open = new Set<RequestId>()
  let whenAnswered = (): void => undefined
  const close = (id: RequestId): void => {
    open.delete(id)
    if (open.size === 0) whenAnswered()
  }

  const transport: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        if ('method' in message && 'id' in message) open.add(message.id)
        const cancelled = cancelledBy(message)
        if (cancelled !== undefined) close(cancelled) // a cancelled request gets no answer
        transport.onmessage?.(message, extra)
      }
      inner.onclose = () => transport.onclose?.()
      inner.onerror = (error) => transport.onerror?.(error)
      await inner.start()
    },
    async send(message, options) {
      await inner.send(message, options)
      if (!('method' in message) && message.id !== undefined) close(message.id)
    },
    close: () => inner.close(),
  }
  const answered = (): Promise<void> =>
    open.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          whenAnswered = resolve
        })
  return { transport, answered }
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const { requestId } = Object(message.params) as { requestId?: unknown }
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined
}
