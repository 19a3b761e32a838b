/** What stands in the place of a secret. */
export const REDACTED = '[REDACTED]'

/*
 * What common secrets look like. Every repetition is bounded or begins at text that ends the
 * attempts before it, so matching takes linear time on any input.
 */
const WORD_START = '(?<![A-Za-z0-9_-])'

const TOKENS = new RegExp(
  [
    `${WORD_START}gh[pousr]_[A-Za-z0-9]{20,255}`, // GitHub
    `${WORD_START}github_pat_[A-Za-z0-9_]{20,255}`,
    `${WORD_START}glpat-[A-Za-z0-9_-]{20,64}`, // GitLab
    `${WORD_START}sk-[A-Za-z0-9_-]{20,255}`, // OpenAI, Anthropic (sk-ant-), OpenRouter
    `${WORD_START}[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}`, // Stripe
    `${WORD_START}(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`, // AWS
    `${WORD_START}xox[abeoprs]-[A-Za-z0-9-]{10,255}`, // Slack
    `${WORD_START}AIza[A-Za-z0-9_-]{35}`, // Google
    `${WORD_START}ya29\\.[A-Za-z0-9_-]{20,1024}`,
    `${WORD_START}npm_[A-Za-z0-9]{36}`,
    `${WORD_START}hf_[A-Za-z0-9]{30,64}`, // Hugging Face
    `${WORD_START}eyJ[A-Za-z0-9_-]{8,8192}\\.eyJ[A-Za-z0-9_-]{8,16384}\\.[A-Za-z0-9_-]{0,8192}`, // JWT
  ].join('|'),
  'g',
)

const URL_PASSWORD = /(:\/\/[^\s:@/?#"'<>]{0,255}:)[^\s@/"'<>]{1,255}(?=@)/g

const KEY_BODY = '(?:[A-Za-z0-9+/=\\s\\\\:,]|-(?!----)){0,20000}'

/** Also a key whose end was cut off. */
const PRIVATE_KEY = new RegExp(
  `-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----${KEY_BODY}(?:-----END [A-Z0-9 ]{1,80}-----)?`,
  'g',
)
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_CHARACTER = /[A-Za-z0-9+/=\s\\]/

/** Takes out what looks like a secret: tokens of common services, private keys, passwords in URLs. */
export function redactPatterns(text: string): string {
  return redactKeyEnds(text.replace(PRIVATE_KEY, REDACTED))
    .replace(TOKENS, REDACTED)
    .replace(URL_PASSWORD, `$1${REDACTED}`)
}

/** A key whose beginning was cut off: backwards from its end, as far as it looks like one. */
function redactKeyEnds(text: string): string {
  let out = ''
  let done = 0
  for (const match of text.matchAll(KEY_END)) {
    let start = match.index
    while (start > done && KEY_CHARACTER.test(text[start - 1] ?? '')) start--
    out += text.slice(done, start) + REDACTED
    done = match.index + match[0].length
  }
  return out + text.slice(done)
}
