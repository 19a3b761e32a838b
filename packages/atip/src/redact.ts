/*
 * What secrets look like. Every pattern reads a text of n characters in time proportional to n:
 * a repetition is either bounded, or it starts at a literal that cannot occur inside it. "At least six" is written
 * `x{6}x*`: V8 keeps a place on its stack for each `x` of `x{6,}`, and some millions of them overflow it.
 */

/** Names that announce a secret, as in `password=`, `"api_key": `. */
const ANNOUNCED = '(?:passw(?:or)?d|secret|token|api[_-]?key)'

/** Patterns for `text.replace(pattern, '[REDACTED]')`; all of them have the flag `g`. */
export const DEFAULT_REDACT_PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]{0,30}PRIVATE KEY-----|[\s\S]*)/g,
  /\bBearer\s{1,8}[A-Za-z0-9._~+/-]{6}[A-Za-z0-9._~+/-]*=*/g,
  /\bBasic\s{1,8}(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{6}[A-Za-z0-9+/]*=*/g,
  /gh[oprsu]_[A-Za-z0-9]{30}[A-Za-z0-9]*/g,
  /github_pat_[A-Za-z0-9_]{20}[A-Za-z0-9_]*/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16}[A-Za-z0-9_-]*/g,
  /(?:AKIA|ASIA)[A-Z0-9]{16}/g,
  /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*/g,
  /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16}[A-Za-z0-9]*/g,
  /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,64})/g,
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10}[A-Za-z0-9-]*/g,
  /(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10}[A-Za-z0-9-]*/g,
  /AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8}[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8}[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*/g,
  /(?<=:\/\/[^\s:@/]{1,64}:)[^\s@/]{1,256}(?=@)/g,
  // After its name: up to the closing quote if there is an opening one, else up to the next space or separator.
  new RegExp(
    `(?<=${ANNOUNCED}["']?\\s?[=:]\\s?["']?)(?:(?<=")[^"\\n]+|(?<=')[^'\\n]+|(?<!["'])[^\\s"',;&]+)`,
    'gi',
  ),
]

const MARKER = '[REDACTED]'

/** `text` with every match of every pattern replaced; a pattern without the flag `g` counts as if it had it. */
export function redact(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce((result, pattern) => result.replace(everywhere(pattern), MARKER), text)
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
}
