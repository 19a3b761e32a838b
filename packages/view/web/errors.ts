/** A route did not answer with what was asked for. */
export class RouteError extends Error {
  override readonly name = 'RouteError'
  /** Of HTTP; 0 if there was no answer. */
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}
