/** What stands in the place of a secret. */
export const REDACTED = '[REDACTED]'

/*
 * What common secrets look like. Every repetition is bounded or begins at text that ends the
 * attempts before it, so matching takes linear time on any input.
 */
const WORD_START = '(?<![A-Za-z0-9_-])'

/*
 * A prefix that no word ends with needs no word start: tokens stand glued to other text, too (`TOKEN_ghp_…`). `sk-` does
 * (`task-…`), and so does what begins a pattern without a small bound.
 */

const TOKENS = new RegExp(
  [
    `gh[pousr]_[A-Za-z0-9]{20,255}`, // GitHub
    `github_pat_[A-Za-z0-9_]{20,255}`,
    `glpat-[A-Za-z0-9_-]{20,64}`, // GitLab
    `(?:${WORD_START}sk-|sk-ant-api)[A-Za-z0-9_-]{20,255}`, // keys of models
    `[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}`, // Stripe
    `(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])`, // AWS
    `(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,255}`, // Slack
    `AIza[A-Za-z0-9_-]{35}`, // Google
    `${WORD_START}ya29\\.[A-Za-z0-9_-]{20,1024}`,
    `npm_[A-Za-z0-9]{36}`,
    `hf_[A-Za-z0-9]{30,64}`, // Hugging Face
    `${WORD_START}eyJ[A-Za-z0-9_-]{8,8192}\\.eyJ[A-Za-z0-9_-]{8,16384}\\.[A-Za-z0-9_-]{0,8192}`, // JWT
  ].join('|'),
  'g',
)

const URL_PASSWORD = /(?<=:\/\/[^\s:@/?#"'<>]{0,255}:)[^\s@/"'<>]{1,255}(?=@)/g

const KEY_BODY = '(?:[A-Za-z0-9+/=\\s\\\\:,]|-(?!----)){0,20000}'

/** Also a key whose end was cut off. */
const PRIVATE_KEY = new RegExp(
  `-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----${KEY_BODY}(?:-----END [A-Z0-9 ]{1,80}-----)?`,
  'g',
)
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_CHARACTER = /[A-Za-z0-9+/=\s\\]/

/** What common secrets look like. Each pattern has the flag `g`, and matches nothing but the secret. */
export const SECRET_PATTERNS: readonly RegExp[] = [PRIVATE_KEY, TOKENS, URL_PASSWORD]

/** Replaces what looks like a secret: tokens of common services, private keys, passwords in URLs. */
export function redactPatterns(text: string): string {
  return redactKeyEnds(text.replace(PRIVATE_KEY, REDACTED))
    .replace(TOKENS, REDACTED)
    .replace(URL_PASSWORD, REDACTED)
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
