#!/usr/bin/env node
// CommonJS and one file: an ES module entry and what it imports cost a fifth of a start
require('./dist/bin/main.cjs')
  .main(process)
  .then((code) => {
    process.exitCode = code
  })
