// For the other packages of Delta: may change in any release.
export { main, type Terminal } from './main.js'
