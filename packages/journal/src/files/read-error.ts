import { JournalError } from '../errors.js'

/**
 * The system's error with the file's name and what to do about it; any other error stays as it is.
 *
 * @param remedies - What else is to be done about this file, by the system's code.
 */
export function asReadError(error: unknown, path: string, remedies: Record<string, string> = {}): unknown {
  const { code, message, syscall } = Object(error) as NodeJS.ErrnoException
  if (syscall === undefined) return error
  const [cause, remedy] = known[code ?? ''] ?? [`${message}.`, 'Mend the cause, and try again.']
  return new JournalError(
    'ERR_JOURNAL_READ',
    `${path}: Could not be read: ${cause}\n${remedies[code ?? ''] ?? remedy}`,
    {
      path,
      cause: error,
    },
  )
}

const permission = 'Give yourself permission to read the run and its files.'

const known: Record<string, readonly [cause: string, remedy: string]> = {
  EACCES: ['permission denied (EACCES).', permission],
  EPERM: ['permission denied (EPERM).', permission],
  EISDIR: ['it is a directory, not a file (EISDIR).', 'Put back the file that was there, or delete the run.'],
  ESPIPE: ['it is a pipe, not a file (ESPIPE).', 'Put back the file that was there, or delete the run.'],
  ENODEV: ['it is a device, not a file (ENODEV).', 'Put back the file that was there, or delete the run.'],
  ENOTDIR: ['it is below a file (ENOTDIR).', 'Put back the directory that was there, or delete the run.'],
  ELOOP: [
    'it is a symbolic link that leads to itself (ELOOP).',
    'Put back the file that was there, or delete the run.',
  ],
  EIO: ['the disk reported an error (EIO).', 'Copy what is there to a healthy disk.'],
}
