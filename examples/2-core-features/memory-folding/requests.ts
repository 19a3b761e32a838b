export interface Message {
  role: string
  content: string
}

/** How much of all requests but the first is the beginning of the request before. */
export function unchangedShare(requests: readonly Message[][]): number {
  let unchanged = 0
  let all = 0
  for (const [index, messages] of requests.slice(1).entries()) {
    const texts = messages.map((message) => JSON.stringify(message))
    const changed = texts.findIndex((text, at) => text !== JSON.stringify(requests[index]?.[at]))
    unchanged += texts.slice(0, changed === -1 ? undefined : changed).join(',').length
    all += texts.join(',').length
  }
  return unchanged / all
}
