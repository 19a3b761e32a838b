import { bootstrap } from './bootstrap.mjs'
import { testEnvironment, tool } from './lib/environment.mjs'
import { step } from './lib/step.mjs'
import { buildTypes } from './lib/types.mjs'

const node = process.execPath

/** Every gate, in the order a person would want to hear of it: cheap ones first. */
const gates = [
  { name: 'Format and lint', argv: tool('biome', 'check', '--error-on-warnings', '.') },
  { name: 'Types', argv: buildTypes() },
  { name: 'Layers', argv: tool('depcruise', 'packages', 'apps', '--config', 'scripts/dependency-rules.mjs') },
  { name: 'Docstrings of what is exported', argv: [node, 'scripts/check-docstrings.mjs'] },
  { name: 'Demo', argv: ['npm', 'run', 'demo'] },
  { name: 'Recording of the demo', argv: [node, 'scripts/recording.mjs', '--check'] },
  { name: 'READMEs', argv: [node, 'scripts/readme.mjs', '--check'] },
  { name: 'Commands that delta --agent describes', argv: [node, 'scripts/describe-commands.mjs', '--check'] },
  { name: 'Reference of the command line', argv: [node, 'scripts/cli-reference.mjs', '--check'] },
  { name: 'Reference of the YAML files', argv: [node, 'scripts/yaml-reference.mjs', '--check'] },
  { name: 'Shipped prices', argv: [node, 'scripts/prices.mjs', '--check'] },
  { name: 'Bounds: CPU of a start and of a long run', argv: [node, 'benchmarks/bounds.mjs'] },
  { name: 'Unused files, exports and dependencies', argv: tool('knip') },
  { name: 'Release, all but publishing', argv: [node, 'scripts/release.mjs', '--dry-run'] },
  { name: 'Packages: installed with npm and used', argv: [node, 'scripts/packed.mjs'] },
  { name: 'Newest frameworks, Bun and Deno', argv: [node, 'scripts/newest.mjs'] },
]

/** `pnpm check`: bootstrap, then every gate, also after one has failed; exit code 1 if any did. */
async function main() {
  if (!(await bootstrap())) return 1
  const failed = []
  for (const { name, argv } of gates) {
    if (!(await step(name, argv, { env: testEnvironment() }))) failed.push(name)
  }
  console.log(
    failed.length === 0
      ? `All ${gates.length} checks passed.`
      : `${failed.length} failed: ${failed.join('; ')}`,
  )
  return failed.length === 0 ? 0 : 1
}

process.exitCode = await main()
