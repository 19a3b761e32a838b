/** Asks as often as argv says, then prints the CPU time of this process since its start, in milliseconds. */
export async function measure(createAsk) {
  const [baseUrl, count] = process.argv.slice(2)
  if (createAsk) {
    const ask = await createAsk(baseUrl)
    const body = { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(2000) }] }
    for (let index = 0; index < Number(count); index++) {
      const { content } = await ask(body)
      if (content !== 'Hello.') throw new Error(`asked in vain: ${content}`)
    }
  }
  const { user, system } = process.cpuUsage()
  console.log((user + system) / 1000)
  process.exit()
}
