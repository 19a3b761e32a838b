// preloaded by start-up.test.ts: says on stderr which bundles of the program were read
const fs = require('node:fs')

const { readFileSync } = fs
const names = []
fs.readFileSync = (path, ...rest) => {
  const [, name] = /\/dist\/([\w-]+)\.cjs$/.exec(String(path)) ?? []
  if (name) names.push(name)
  return readFileSync(path, ...rest)
}
process.on('exit', () => fs.writeSync(2, `loaded: ${names.join(' ')}\n`))
