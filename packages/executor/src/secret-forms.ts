/** Shorter values are not hunted: they would be found in half of all texts. */
export const SHORTEST_SECRET_BYTES = 6

/**
 * Every spelling in which a secret may turn up in output, as bytes in a latin1 string:
 * plain, JSON-escaped, URL-encoded and base64, longest first.
 */
export function secretForms(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => Buffer.byteLength(secret) >= SHORTEST_SECRET_BYTES)
  const forms = new Set(long.flatMap(formsOf).map((form) => Buffer.from(form).toString('latin1')))
  return [...forms].sort((one, other) => other.length - one.length)
}

function formsOf(secret: string): string[] {
  const url = encodeURIComponent(secret)
  const strictUrl = url.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const urls = [url, strictUrl, url.replaceAll('%20', '+'), strictUrl.replaceAll('%20', '+')]
  return [secret, ...jsonForms(secret), ...urls, ...urls.map(lowerCaseEscapes), ...base64Forms(secret)]
}

/** As JavaScript writes it, and as Python does: with everything beyond ASCII, and `/`, escaped. */
function jsonForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const ascii = json.replaceAll(
    /[^\x00-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return [json, ascii, json.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')]
}

function lowerCaseEscapes(url: string): string {
  return url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

/**
 * The part of a base64 text that depends on nothing but the secret, for each of the three
 * places in a group of three bytes where it can begin; in both alphabets, and as `base64` and
 * `openssl` break the lines of a secret that stands alone.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const first = Math.ceil((offset * 8) / 6)
    const core = encoded.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
    const lines =
      offset === 0
        ? [76, 64].map((width) => core.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n'))
        : []
    return [core, core.replaceAll('+', '-').replaceAll('/', '_'), ...lines]
  })
}
