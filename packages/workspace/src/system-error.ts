/** What the system's codes mean, and what a person can do. */
const KNOWN: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  EACCES: ['permission denied', 'Give yourself permission, or use another place.'],
  EDQUOT: ['your disk quota is used up', 'Free some space, and try again.'],
  EEXIST: ['a file of that name is in the way', 'Name another one.'],
  EIO: ['the device reported an error', 'Copy what is there to a healthy disk.'],
  EISDIR: ['it is a directory, not a file', 'Name a file.'],
  ELOOP: ['its symbolic links form a loop', 'Fix the links, or name another path.'],
  EMFILE: ['too many files are open', 'Raise the limit (ulimit -n), and try again.'],
  ENAMETOOLONG: ['the name is too long', 'Choose a shorter one.'],
  ENFILE: ['too many files are open on this machine', 'End some programs, and try again.'],
  ENOENT: ['there is no such file or directory', 'Create it, or name another one.'],
  ENOSPC: ['no space is left on the disk', 'Free some space, and try again.'],
  ENOTDIR: ['it is a file, not a directory, or is below a file', 'Name a directory.'],
  EPERM: ['not permitted', 'Give yourself permission, or use another place.'],
  EROFS: ['the file system is read-only', 'Use another place, or make it writable.'],
}

/** What `/proc` answers to `mkdir`, though the directory above exists. */
const NOTHING_CAN_BE_MADE = ['nothing can be created there', 'Use another place.'] as const

/**
 * An error of the operating system in words: the reason with its code, then what to do; without the path, which the
 * caller can name as it was typed. Undefined for any other error.
 *
 * @param remedy - What to do, where the caller knows better.
 */
export function explainSystemError(error: unknown, remedy?: string): string | undefined {
  const { code, syscall } = Object(error) as NodeJS.ErrnoException
  if (syscall === undefined) return undefined
  const known = code === 'ENOENT' && syscall === 'mkdir' ? NOTHING_CAN_BE_MADE : KNOWN[code ?? '']
  return known && `${known[0]} (${code}).\n${remedy ?? known[1]}`
}
