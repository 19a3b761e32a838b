import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'

/** A directory with these files, gone when the test is. */
export function workspace(files: Record<string, string> = {}): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(files, { onCleanup: onTestFinished })
}
