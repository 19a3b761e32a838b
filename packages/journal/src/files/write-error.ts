import { isJournalError, JournalError } from '../errors.js'

/** The system's error with the file's name and what to do about it; an error of ours stays as it is. */
export function asWriteError(error: unknown, path: string): JournalError {
  if (isJournalError(error)) return error
  const { code = '', message = String(error) } = Object(error) as Partial<NodeJS.ErrnoException>
  return new JournalError(
    'ERR_JOURNAL_WRITE',
    `${String(path)}: Could not be written: ${causes[code] ?? message}\n${remedies[code] ?? remedyForOthers}`,
    { path, cause: error },
  )
}

/** The error for a run that has not begun: there is nothing to be continued. */
export function asStartError(error: unknown): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') return error
  const [whatAndWhy = ''] = error.message.split('\n')
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code ?? ''
  const { path, cause } = error
  return new JournalError(
    'ERR_JOURNAL_WRITE',
    `${whatAndWhy}\nThe run was not started. ${startRemedies[code] ?? startRemedyForOthers}`,
    {
      path,
      cause,
    },
  )
}

/** The error for a damaged journal, of which nobody can say that it is whole. */
export function asRepairError({ message, path, cause }: JournalError): JournalError {
  const said = message.replace('What was recorded before is whole.', 'The journal is as it was.')
  const text = said.replace('continue the run', 'repair the journal')
  return new JournalError('ERR_JOURNAL_WRITE', text, { path, cause })
}

const causes: Record<string, string> = {
  ENOSPC: 'no space is left on the disk (ENOSPC).',
  EDQUOT: 'your disk quota is used up (EDQUOT).',
  EROFS: 'the file system is read-only (EROFS).',
  EACCES: 'permission denied (EACCES).',
  EPERM: 'permission denied (EPERM).',
  EIO: 'the disk reported an error (EIO).',
  EFBIG: 'a file may not become that long (EFBIG).',
  EMFILE: 'this process has too many files open (EMFILE).',
  ENOTSUP: 'the file system has no hard links, by which one process alone gets a run (ENOTSUP).',
  ENOENT: 'its directory does not exist (ENOENT).',
  EEXIST: 'something else of that name is in the way (EEXIST).',
  EISDIR: 'a directory of that name is in the way (EISDIR).',
  ENOTDIR: 'a file is in the place of its directory (ENOTDIR).',
  ENXIO: 'a pipe of that name is in the way (ENXIO).',
  ESPIPE: 'a pipe of that name is in the way (ESPIPE).',
}

const NO_PERMISSION =
  'What was recorded before is whole. Give yourself write permission on the directory and its files, then continue the run.'

const IN_THE_WAY = 'Put back what was there, or move what is in its place away, then continue the run.'

const PIPE_IN_THE_WAY = 'Put back the file that was there, or move the pipe away, then continue the run.'

const remedies: Record<string, string> = {
  ENOSPC: 'What was recorded before is whole. Free some space, then continue the run.',
  EDQUOT: 'What was recorded before is whole. Free some space, then continue the run.',
  ENOENT:
    'For a new journal, create it first. If it was deleted or moved, put it back, then continue the run; what is gone cannot be continued.',
  EROFS:
    'What was recorded before is whole. Mount the file system read-write, or use another directory, then continue the run.',
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EEXIST: IN_THE_WAY,
  EISDIR: 'What was recorded before is whole. Move the directory away, then continue the run.',
  ENOTDIR: IN_THE_WAY,
  ENXIO: PIPE_IN_THE_WAY,
  ESPIPE: PIPE_IN_THE_WAY,
  EIO: 'Copy the directory to a healthy disk, then continue the run there.',
  EFBIG: 'What was recorded before is whole. Raise the limit (ulimit -f), then continue the run.',
  EMFILE: 'What was recorded before is whole. Raise the limit (ulimit -n), then continue the run.',
  ENOTSUP:
    'What was recorded before is whole. Copy the workspace to a file system that has them, then continue the run there.',
}

const startRemedies: Record<string, string> = {
  ENOSPC: 'Free some space, then start it again.',
  EDQUOT: 'Free some space, then start it again.',
  EROFS: 'Use a workspace that can be written, or mount this one read-write.',
  EACCES: 'Give yourself write permission on the directory and its files.',
  EPERM: 'Give yourself write permission on the directory and its files.',
  EIO: 'Use a directory on a healthy disk.',
  EFBIG: 'Raise the limit (ulimit -f), then start it again.',
  EMFILE: 'Raise the limit (ulimit -n), then start it again.',
  ENOTSUP: 'Use a workspace on a file system that has them; FAT and many mounted buckets have none.',
}

const startRemedyForOthers = 'Mend the cause, then start it again.'
const remedyForOthers = 'What was recorded before is whole. Mend the cause, then continue the run.'
