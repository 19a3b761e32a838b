import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { PendingCall } from '@delta/journal'
import type { ActiveRun } from './active-run.js'

export async function endOrphan(run: ActiveRun, call: PendingCall): Promise<{ observation: string; executionRef: string | null }> {
  void readdirSync; void readFileSync; void join; void relative; void run; void call
  return { observation: '', executionRef: null }
}
