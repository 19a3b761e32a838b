export {
  appendWhole,
  createFile,
  readIfThere,
  replaceFile,
  syncName,
  syncPath,
  type WriteOptions,
} from './files.js'
export { type Holder, type HolderState, type LockRecord, readHolder } from './holder.js'
export { type Lock, type LockOptions, takeLock } from './lock.js'
export { endGroup, endProcess, type Machine, processStart, thisMachine } from './processes.js'
