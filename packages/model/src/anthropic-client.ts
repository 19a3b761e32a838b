/** The one class that is used, in a file of its own: a bundler then leaves out the rest of the package, four fifths of it. */
export { BaseAnthropic } from '@anthropic-ai/sdk/client'
