declare module 'proxy-from-env' {
  /** The proxy for a URL by the variables of the environment; '' for none. */
  export function getProxyForUrl(url: string): string
}
