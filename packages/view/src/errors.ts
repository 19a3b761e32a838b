/** `ERR_VIEW_ASSETS`: the page is not built. `ERR_VIEW_PORT`: the port is taken, or may not be used. */
export type ViewErrorCode = 'ERR_VIEW_ASSETS' | 'ERR_VIEW_PORT'

/** Branch on `code`; show `message` to people. */
export class ViewError extends Error {
  override readonly name = 'ViewError'
  readonly code: ViewErrorCode

  constructor(code: ViewErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for a `ViewError` of any copy of this package. */
export function isViewError(error: unknown): error is ViewError {
  return error instanceof Error && error.name === 'ViewError'
}

/** What a route answers instead, with the status of HTTP. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
