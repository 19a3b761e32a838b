/**
 * What common secrets look like. Every pattern begins with literal text that cannot recur
 * within its own match attempt, or is bounded, so matching takes linear time on any input.
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

/** A key without its end counts as going on to the end of the text. */
const PEM =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,80}-----|$)/g

/** Takes out what looks like a secret: tokens of common services, private keys, passwords in URLs. */
export function redactPatterns(text: string): string {
  return text.replace(PEM, '[REDACTED]').replace(TOKENS, '[REDACTED]').replace(URL_PASSWORD, '$1[REDACTED]')
}
