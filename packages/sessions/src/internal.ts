// For the other packages of Delta: may change in any release.
export { main } from './main.js'
