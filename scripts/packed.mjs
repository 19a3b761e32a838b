import { join } from 'node:path'
import { embedInAiSdk, followTutorial, serveMcp, useSessionsAndSubAgents } from './lib/newcomer.mjs'
import { packedAs, withPackedPackages } from './lib/pack.mjs'
import { succeeds } from './lib/step.mjs'
import { useCommandLine } from './lib/use-command-line.mjs'
import { useLibraries } from './lib/use-libraries.mjs'
import { useTools } from './lib/use-tools.mjs'

process.exitCode = await withPackedPackages(async (packages, directory) => {
  const libraries = packages.filter((packed) => packed.isLibrary)
  const [cli, ...others] = packages.filter((packed) => !packed.isLibrary && !packed.isPlain)
  if (!cli || others.length > 0) throw new Error('There should be one application, the command line')
  const results = [
    await succeeds(() => useLibraries(join(directory, 'libraries'), libraries)),
    await succeeds(() => useCommandLine(join(directory, 'command line'), cli)),
    await succeeds(() => embedInAiSdk(join(directory, 'embedding'), libraries)),
    await succeeds(() => serveMcp(join(directory, 'server'), cli)),
    await succeeds(() => followTutorial(join(directory, 'tutorial'), cli)),
    await succeeds(() => useTools(join(directory, 'tools'), packedAs('@delta/tools', packages), cli)),
    await succeeds(() => useSessionsAndSubAgents(join(directory, 'sessions'), cli)),
  ]
  return results.every(Boolean) ? 0 : 1
})
