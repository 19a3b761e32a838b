/**
 * What to say of a path whose bytes were not UTF-8: Node.js has replaced them, so it would name another directory than the
 * person did. Undefined for any other path.
 */
export function unreadableBytes(path: string): string | undefined {
  if (!path.includes('\ufffd')) return undefined
  return 'its name contains bytes that are not UTF-8, so it cannot be passed on.\nRename the directory, or name another one.'
}
