export {
  appendWhole,
  createFile,
  makeDirectories,
  namesIn,
  openAtOnce,
  readIfThere,
  removeFile,
  replaceFile,
  syncName,
  syncPath,
  type WriteOptions,
} from './files.js'
export {
  HEARTBEAT_EXPIRY_MS,
  type Holder,
  type HolderState,
  isProbablyOurPast,
  type LockRecord,
  readHolder,
  readLockFile,
} from './holder.js'
export { type Lock, type LockOptions, takeLock } from './lock.js'
export {
  endGroup,
  endProcess,
  environmentOf,
  listProcesses,
  type Machine,
  type ProcessInfo,
  processStart,
  readProcess,
  signalGroup,
  thisMachine,
} from './processes.js'
