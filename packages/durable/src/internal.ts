// For the other packages of Delta: may change in any release.
export { isInside, makeDirectories, namesIn, openAtOnce, realPath, removeFile } from './files.js'
export { HEARTBEAT_EXPIRY_MS } from './holder.js'
export { environmentOf, listProcesses, type ProcessInfo, readProcess, signalGroup } from './processes.js'
