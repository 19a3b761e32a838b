/**
 * What to say of a path that came with bytes which are no UTF-8: node has replaced them, so it would name another
 * directory than the person does. Undefined for any other path.
 */
export function unreadableBytes(path: string): string | undefined {
  if (!path.includes('\ufffd')) return undefined
  return 'its name contains bytes that are not UTF-8, so it cannot be passed on.\nRename the directory, or name another one.'
}
