// Preloaded into a measured process (node --import): at its end writes what it cost itself to $MEASURE_FILE.
import { writeFileSync } from 'node:fs'

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeFileSync(
    process.env.MEASURE_FILE,
    JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMb: maxRSS / 1024 }),
  )
})
