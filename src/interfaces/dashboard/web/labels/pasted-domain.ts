/**
 * Returns the domain in what is pasted in its place, such as `https://acme.example/`, `user@acme.example` or
 * `ACME.example.`.
 */
export function pastedDomain(text: string): string {
  const [host = ''] = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:(?:\/\/)?/, '')
    .split(/[/?#>]/)
  return host
    .slice(host.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .replace(/\.$/, '')
}
