import { measure } from './measure.mjs'

await measure(async (baseUrl) => async (body) => {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()).choices[0].message
})
