#!/usr/bin/env node
// CommonJS and short: the version is answered before anything else is loaded, an ESM entry alone costs a tenth of a start
if (process.argv.length === 3 && /^(--version|-V)$/.test(process.argv[2])) {
  try {
    require('node:fs').writeSync(1, `${require('./package.json').version}\n`)
  } catch (error) {
    process.exitCode = error.code === 'EPIPE' ? 0 : 1
    if (process.exitCode) console.error(`Error: The result could not be written: ${error.message}`)
  }
} else require('./dist/start.cjs').start(process)
