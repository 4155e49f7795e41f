/** Removes tokens that give access by themselves from a path, for logs. */
export function loggedPath(path: string): string {
  return path.replace(/^(\/+[ocsu]\/+)[^/]+/, '$1…')
}
