/**
 * The part of the fetch API's `Headers` that the openai client uses. Merely naming the real one makes Node.js load a whole
 * HTTP client with HTTP/2 and TLS, a fifth of a short run, although requests go through `node:http`. The build substitutes
 * this class, see `tsup.config.ts`.
 */
export class Headers {
  readonly #values = new Map<string, string>()

  constructor(init: Iterable<readonly [string, string]> = []) {
    for (const [name, value] of init) this.append(name, value)
  }

  append(name: string, value: unknown): void {
    const before = this.get(name)
    this.set(name, before === null ? value : `${before}, ${String(value).trim()}`)
  }

  set(name: string, value: unknown): void {
    this.#values.set(name.toLowerCase(), String(value).trim())
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries()
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries()
  }
}
