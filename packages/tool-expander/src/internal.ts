// For the other packages of Delta: may change in any release.
export { toolSchemas } from './schema.js'
export { repeatsRepeat, SCHEMA_WORDS } from './values.js'
