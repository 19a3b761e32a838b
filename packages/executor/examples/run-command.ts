import { runCommand } from '@delta/executor'

const outcome = await runCommand(['sh', '-c', 'echo begun; sleep 60 & sleep 60'], {
  cwd: process.cwd(),
  env: process.env,
  timeoutMs: 1000,
})

console.log(outcome.status, outcome.signal) // and no sleep is left
console.log(outcome.stdout.text)
