#!/usr/bin/env node
// CommonJS and two lines: the version is answered before anything else is loaded, an ESM entry alone costs a tenth of a start
if (process.argv.length === 3 && /^(--version|-V)$/.test(process.argv[2])) {
  require('node:fs').writeSync(1, `${require('./package.json').version}\n`)
} else require('./dist/start.cjs').start(process)
