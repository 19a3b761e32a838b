// Sends one request: node request.mjs <method> <url>, the body on stdin. Prints what came back.
import { text } from 'node:stream/consumers'

const [method, url] = process.argv.slice(2)
const body = await text(process.stdin)

try {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(20_000),
    ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }),
  })
  console.log(`${response.status} ${response.statusText}`)
  for (const [name, value] of response.headers) console.log(`${name}: ${value}`)
  console.log(`\n${await response.text()}`)
} catch (error) {
  console.error(`No answer: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
}
