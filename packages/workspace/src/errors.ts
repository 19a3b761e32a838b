/** What is asked cannot be done here, or must not be; the message says why, and what leads on. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly code = 'ERR_WORKSPACE'
}
