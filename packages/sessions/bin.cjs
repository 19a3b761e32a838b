#!/usr/bin/env node
// CommonJS and one file: an ES module entry and what it imports cost a fifth of a start
process.umask(process.umask(0o077) & 0o077) // a session that its owner may not open is lost
require('./dist/bin/main.cjs')
  .main(process)
  .then((code) => {
    process.exitCode = code
  })
