import { Agent, request } from 'node:http'
import { measure } from './measure.mjs'

// The floor: one POST over a connection that is kept open, its answer parsed.
await measure(async (baseUrl) => {
  const agent = new Agent({ keepAlive: true })
  const headers = { 'content-type': 'application/json' }
  return (body) =>
    new Promise((resolve, reject) => {
      const post = request(`${baseUrl}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve(JSON.parse(text).choices[0].message))
      })
      post.on('error', reject).end(JSON.stringify(body))
    })
})
