/**
 * True for a finished word a command would read as an option.
 *
 * `-` alone, numbers and a dash before white space are operands everywhere; `-4oProxyCommand=…` is not.
 */
export function looksLikeOption(word: string): boolean {
  return word.startsWith('-') && !/^-(?:$|\s|\d+(?:\.\d+)?$)/.test(word)
}
