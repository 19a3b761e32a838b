import type { Api } from './chat.js'

/** Who serves a model. Whatever needs to know a vendor by name asks this table. */
export interface Vendor {
  /** As `llm.provider` names it; where Delta does not speak the API, the variable of the key. */
  id: string
  /** The variable that clients of this vendor read the key from. */
  key: string
  /** Where the key goes without another address. Absent where Delta does not speak the API: then commands only do not get the key. */
  url?: string
  /** The variables of the address, the one that counts first. */
  urlNames: readonly string[]
  /** The APIs that it offers, the default first. */
  apis?: readonly Api[]
}

const DEFAULT_VENDOR: Vendor = {
  id: 'openai',
  key: 'OPENAI_API_KEY',
  url: 'https://api.openai.com/v1',
  urlNames: ['OPENAI_BASE_URL', 'OPENAI_API_URL'],
  apis: ['chat', 'responses'],
}

const keyOnly = (key: string): Vendor => ({ id: key, key, urlNames: [] })

/** The default first, then who else serves an API that Delta speaks, then keys that only no command gets. */
export const VENDORS: readonly Vendor[] = [
  DEFAULT_VENDOR,
  {
    id: 'anthropic',
    key: 'ANTHROPIC_API_KEY',
    url: 'https://api.anthropic.com',
    urlNames: ['ANTHROPIC_BASE_URL'],
    apis: ['messages'],
  },
  ...[
    'ANTHROPIC_AUTH_TOKEN',
    'AZURE_API_KEY',
    'AZURE_OPENAI_API_KEY',
    'CEREBRAS_API_KEY',
    'COHERE_API_KEY',
    'DEEPSEEK_API_KEY',
    'FIREWORKS_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'GROQ_API_KEY',
    'MISTRAL_API_KEY',
    'OPENROUTER_API_KEY',
    'PERPLEXITY_API_KEY',
    'TOGETHER_AI_API_KEY',
    'TOGETHER_API_KEY',
    'XAI_API_KEY',
  ].map(keyOnly),
]

/** The variable of a key for whichever vendor an agent has. */
export const SHARED_KEY = 'DELTA_API_KEY'
/** The variable of an address for whichever vendor an agent has. */
export const SHARED_URL = 'DELTA_BASE_URL'

/** Every variable that holds a key of a model. No command gets one without asking. */
export const KEY_NAMES: readonly string[] = [SHARED_KEY, ...VENDORS.map(({ key }) => key)]

/** The settings of an agent that say whose key it uses. */
export interface KeySettings {
  provider?: unknown
  apiKeyEnv?: string | undefined
}

/** The vendor that answers for a provider. A model that is no server counts as the default's, for the sub-agents of its agent. */
export function vendorOfProvider(provider: unknown): Vendor {
  return VENDORS.find(({ id, url }) => id === provider && url !== undefined) ?? DEFAULT_VENDOR
}

/** The API that `llm` means. Undefined: its model is no server. */
export function apiOfProvider(provider: unknown, api?: Api): Api | undefined {
  const { apis = [] } = VENDORS.find(({ id }) => id === provider) ?? {}
  return apis.find((each) => each === api) ?? apis[0]
}

/** Whose key an agent uses: the vendor's `id`, or the variable that `llm.api_key_env` names. */
export function vendorIdOf({ provider, apiKeyEnv }: KeySettings = {}): string {
  const vendor = vendorOfProvider(provider)
  return apiKeyEnv === undefined || apiKeyEnv === vendor.key ? vendor.id : apiKeyEnv
}

/** The variable of a vendor's key, from what `vendorIdOf` gives. */
export function keyNameOf(vendorId: string): string {
  return VENDORS.find(({ id }) => id === vendorId)?.key ?? vendorId
}

/** The variable of the address that belongs to a variable of a key; undefined where Delta does not speak the API. */
export function urlNameOf(keyName: string): string | undefined {
  const vendor = VENDORS.find(({ key }) => key === keyName)
  return vendor === undefined ? SHARED_URL : vendor.urlNames[0]
}
