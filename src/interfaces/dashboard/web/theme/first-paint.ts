/**
 * Runs before the first paint, so that the wrong theme never flashes. Where somebody has signed in, it also
 * begins what the page will wait for: the session and the code of the page.
 */
const chosen = localStorage.getItem('mailhorn.theme')
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.theme = isDark ? 'dark' : 'light'

const pages = document.currentScript!.dataset.pages // none in the API reference
if (pages && localStorage.getItem('mailhorn.signed-in') !== null) {
  const session = fetch('/auth/session', { credentials: 'same-origin', cache: 'no-store' })
  session.catch(() => undefined) // shown by the dashboard, which waits for it
  globalThis.earlyReplies = { '/auth/session': session }
  preloadPage(JSON.parse(pages) as PageFiles[])
}

/** Files of the pages whose path matches a regular expression. */
type PageFiles = [path: string, files: string[]]

function preloadPage(pages: readonly PageFiles[]): void {
  const page = pages.find(([path]) => new RegExp(path).test(location.pathname))
  for (const href of page?.[1] ?? []) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = href
    document.head.append(link)
  }
}
