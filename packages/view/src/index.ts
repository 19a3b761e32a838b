export { isViewError, ViewError, type ViewErrorCode } from './errors.js'
export { type ExportedHtml, type ExportHtmlOptions, exportHtml } from './export.js'
export { type Served, type ServeOptions, serve, USUAL_PORT } from './serve.js'
