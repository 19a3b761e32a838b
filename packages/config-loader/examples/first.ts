import { isConfigError, loadAgent } from '@delta/config-loader'

try {
  const { agent, warnings } = await loadAgent('mistaken', { env: process.env })
  console.log(agent.name, [...agent.tools.keys()], warnings)
} catch (error) {
  if (!isConfigError(error)) throw error
  console.log(error.message)
}
