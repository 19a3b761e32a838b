/** True for a URL whose host is this machine: `localhost`, names under it, 127.0.0.0/8, `[::1]`. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, username } = new URL(url)
  if (username !== '') return false
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    /^127(\.\d+){3}$/.test(hostname) ||
    hostname === '[::1]'
  )
}
