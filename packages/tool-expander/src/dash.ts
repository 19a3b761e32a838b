/**
 * True for a finished word a command would read as an option.
 *
 * `-` alone, numbers and a dash before white space are no options anywhere, though `printf` complains of `- x`; `-4oProxyCommand=…` is one.
 */
export function looksLikeOption(word: string): boolean {
  return /^-(?!$|\s|\d+(?:\.\d+)?$)/.test(word)
}
