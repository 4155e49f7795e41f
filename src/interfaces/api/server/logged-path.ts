/** The path of a request as logs may have it: what opens something by itself is left out. */
export function loggedPath(path: string): string {
  return path.replace(/^(\/+[ocsu]\/+)[^/]+/, '$1…')
}
