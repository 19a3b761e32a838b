/** Shorter values are not hunted: they would be found in half of all texts. */
const SHORTEST_SECRET_BYTES = 6

/**
 * Every spelling in which a secret may turn up in output, as bytes in a latin1 string:
 * plain, JSON-escaped, URL-encoded and base64, longest first.
 */
export function secretForms(secrets: readonly string[]): string[] {
  const sent = secrets.map((secret) => Buffer.from(secret).toString()) // half a character reaches a command as U+FFFD
  const long = sent.filter((secret) => Buffer.byteLength(secret) >= SHORTEST_SECRET_BYTES)
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
 * The secret alone, in both alphabets and as `base64` and `openssl` break its lines; and the
 * part that depends on nothing but the secret when it stands within a longer text, for each of
 * the three places in a group of three bytes where it can begin.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const alone = bytes.toString('base64')
  const within = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const broken = [76, 64].map((width) => alone.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n'))
  const forms = [alone, alone.replaceAll('=', ''), ...within]
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')), ...broken]
}
