// For the other packages of Delta: may change in any release.
export { type Conversation, followEvents } from './conversation.js'
export { jsonOf, keepJson } from './json.js'
export { manifestSchema } from './manifest.js'
export { answerWithNewPaths, replacing } from './moved-paths.js'
export { bytesOfMedia } from './size.js'
